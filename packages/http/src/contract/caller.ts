/** Who may call an endpoint, and with which scope an application may in the name of its user. */
import type { AgentPrincipal, ApiKeyPrincipal, ClientPrincipal, UserPrincipal } from '@cardea/auth';
import type { MachineScope } from '@cardea/contracts';

/**
 * Whom an endpoint takes. A caller of a kind that is not listed gets 403 `forbidden`, unless `notTaken`
 * declares another response for that kind.
 */
export type Caller =
  /** A user's own token. */
  | 'user'
  /** A user's own token with role admin; without that role 403 `forbidden`. */
  | 'admin'
  /** … with role owner, system_admin. */
  | 'owner'
  | 'system_admin'
  /** An agent's token. */
  | 'agent_token'
  | 'agent_key'
  /** An `svc_` key with this scope (403 `insufficient_scope` without). */
  | `api_key:${string}`;

export type Who = 'anyone' | readonly Caller[];

const ROLE_CALLERS: readonly Caller[] = ['admin', 'owner', 'system_admin'];
export const USER_CALLERS: readonly Caller[] = ['user', ...ROLE_CALLERS];

/**
 * True for an endpoint that changes something and requires a role, or that requires a recent sign-in or
 * reads its time: what its users' tokens say of them is looked up live.
 */
export const confirmsUsers = ({
  who,
  method,
  stepUp = 'none',
  readsSignIn = false,
}: {
  readonly who: Who;
  readonly method: string;
  readonly stepUp?: StepUp;
  readonly readsSignIn?: boolean;
}): boolean =>
  stepUp !== 'none' ||
  readsSignIn ||
  (method !== 'get' && who !== 'anyone' && who.some((caller) => ROLE_CALLERS.includes(caller)));

/**
 * True for a change that a machine can make by a scope. The scopes of its token are then compared with the
 * stored ones.
 */
export const confirmsClients = ({
  machine,
  method,
}: {
  readonly machine?: MachineRule;
  readonly method: string;
}): boolean => method !== 'get' && machineScopeOf({ machine }) !== undefined;

/** True for an endpoint that accepts users by role only: an authorized caller acts as an admin. */
export const asksForRole = ({ who }: { readonly who: Who }): boolean =>
  who !== 'anyone' && !who.includes('user') && who.some((caller) => USER_CALLERS.includes(caller));

/** The callers that a handler can get, by its contract's `who`; undefined on `anyone` endpoints. */
export type CallerOf<
  By extends Who,
  Machine extends MachineRule = 'never',
> = By extends readonly Caller[] ? PrincipalOf<By[number]> | MachineOf<By, Machine> : undefined;
type MachineOf<By extends readonly Caller[], Machine extends MachineRule> = [
  Extract<By[number], RoleOrKey>,
] extends [never]
  ? never
  : Exclude<Machine, 'never'> extends never
    ? never
    : ClientPrincipal;
type PrincipalOf<Kind extends Caller> = Kind extends 'agent_token' | 'agent_key'
  ? AgentPrincipal
  : Kind extends `api_key:${string}`
    ? ApiKeyPrincipal
    : UserPrincipal;

/**
 * The scope that a machine needs. Where users need a role, the machine needs the role too. Where an API key
 * needs a scope, the machine needs this scope instead and no role. `any` admits every machine of the tenant.
 */
export type MachineRule = MachineScope | 'any' | 'never';
type RoleOrKey = 'admin' | 'owner' | 'system_admin' | `api_key:${string}`;
/**
 * Every contract that takes a role or an API key names what a machine may do: a default could be forgotten.
 */
export type NamesMachine<By extends Who> = By extends readonly Caller[]
  ? [Extract<By[number], RoleOrKey>] extends [never]
    ? { readonly machine?: never }
    : { readonly machine: MachineRule }
  : { readonly machine?: never };

/** The scope that a machine needs; undefined where it needs none, or is not taken. */
export const machineScopeOf = ({
  machine,
}: {
  readonly machine?: MachineRule | undefined;
}): MachineScope | undefined =>
  machine === undefined || machine === 'any' || machine === 'never' ? undefined : machine;

/**
 * The scope with which an application may call in the name of its user: `account`, which only the tenant's
 * own applications can have; `roles`; or `any` for every token of an application with a user.
 */
export type ApplicationScope = 'account' | 'roles' | 'any';

/**
 * Which tokens must show a recent sign-in (`step-up.ts`): `users`, each token of a user; `applications`, theirs
 * alone, where `docs/contract.md` promises the endpoint to every login token; `none`.
 */
export type StepUp = 'users' | 'applications' | 'none';

/**
 * What a call of a user can change. `settings` decide where mail and secrets go, how people sign in, and who
 * acts for whom: an application needs the scope `account` for them, and an administrator who impersonates a
 * user never changes them. `things` is everything else, reading settings included.
 */
export type CallClass =
  | {
      readonly class: 'things';
      readonly applicationScope: ApplicationScope;
      readonly stepUp?: never;
    }
  | { readonly class: 'settings'; readonly stepUp: StepUp; readonly applicationScope?: never };
type WithoutClass = {
  readonly class?: never;
  readonly applicationScope?: never;
  readonly stepUp?: never;
};
type UserCaller = 'user' | 'admin' | 'owner' | 'system_admin';
/** Whatever takes users names its class: there is no default that could be forgotten. */
export type NamesClass<By extends Who> = By extends readonly Caller[]
  ? Extract<By[number], UserCaller> extends never
    ? WithoutClass
    : CallClass
  : WithoutClass;

type Classified = { readonly applicationScope?: ApplicationScope };
/** A contract that names none takes no users; the narrowest scope is the answer where one slipped through. */
export const applicationScopeOf = ({ applicationScope }: Classified): ApplicationScope =>
  applicationScope ?? 'account';
