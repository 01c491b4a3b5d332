/** Who may call an endpoint, and which scope an application needs to call it in its user's name. */
import type { AgentPrincipal, ApiKeyPrincipal, ClientPrincipal, UserPrincipal } from '@cardea/auth';
import type { MachineScope } from '@cardea/contracts';

/**
 * The callers that an endpoint accepts. A caller of another kind gets 403 `forbidden`, unless `notTaken` declares
 * another response for that kind.
 */
export type Caller =
  /** A user's own token. */
  | 'user'
  /** A user's own token with role admin. Without that role the response is 403 `forbidden`. */
  | 'admin'
  /** A user's own token with role owner or system_admin. */
  | 'owner'
  | 'system_admin'
  /** An agent's token. */
  | 'agent_token'
  | 'agent_key'
  /** An `svc_` key with this scope. Without it the response is 403 `insufficient_scope`. */
  | `api_key:${string}`;

export type Who = 'anyone' | readonly Caller[];

const ROLE_CALLERS: readonly Caller[] = ['admin', 'owner', 'system_admin'];
export const USER_CALLERS: readonly Caller[] = ['user', ...ROLE_CALLERS];

/**
 * Whether an endpoint checks the current state of users' tokens: it changes something and requires a role, or it
 * requires a recent sign-in or reads its time.
 */
export const confirmsUsers = ({
  who,
  method,
  access,
}: {
  readonly who: Who;
  readonly method: string;
  readonly access?: Access;
}): boolean =>
  stepUpOf({ access }) !== 'none' ||
  access?.readsSignIn === true ||
  (method !== 'get' && who !== 'anyone' && who.some((caller) => ROLE_CALLERS.includes(caller)));

/**
 * Whether a machine can make this change by a scope. The scopes of its token are then compared with the stored ones.
 */
export const confirmsClients = ({
  machine,
  method,
}: {
  readonly machine?: MachineRule;
  readonly method: string;
}): boolean => method !== 'get' && machineScopeOf({ machine }) !== undefined;

export const takesUsers = ({ who }: { readonly who: Who }): boolean =>
  who !== 'anyone' && who.some((caller) => USER_CALLERS.includes(caller));

/** Whether an endpoint accepts users by role only, so that an authorized caller acts as an admin. */
export const asksForRole = ({ who }: { readonly who: Who }): boolean =>
  who !== 'anyone' && !who.includes('user') && takesUsers({ who });

/** The callers that a handler can get, according to its contract's `who`. Undefined on `anyone` endpoints. */
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
 * The scope that a machine needs. If users need a role, the machine needs the role too. If an API key needs a scope,
 * the machine needs this scope instead and no role. `any` accepts every machine of the tenant.
 */
export type MachineRule = MachineScope | 'any' | 'never';
type RoleOrKey = 'admin' | 'owner' | 'system_admin' | `api_key:${string}`;
/**
 * Every contract that accepts a role or an API key states what a machine may do, because a default could be forgotten.
 */
export type NamesMachine<By extends Who> = By extends readonly Caller[]
  ? [Extract<By[number], RoleOrKey>] extends [never]
    ? { readonly machine?: never }
    : { readonly machine: MachineRule }
  : { readonly machine?: never };

/** The scope that a machine needs. Undefined if it needs none, or is not accepted. */
export const machineScopeOf = ({
  machine,
}: {
  readonly machine?: MachineRule | undefined;
}): MachineScope | undefined =>
  machine === undefined || machine === 'any' || machine === 'never' ? undefined : machine;

/**
 * The scope that an application needs to call in the name of its user: `account`, which only the tenant's own
 * applications can have; `roles`; or `any` for every token of an application with a user.
 */
export type ApplicationScope = 'account' | 'roles' | 'any';

/**
 * Which tokens must have a recent sign-in (`authorize.ts`). `users`: each token of a user. `applications`: only tokens of
 * applications, because `docs/contract.md` promises the endpoint to every login token. `none`: no token.
 */
export type StepUp = 'users' | 'applications' | 'none';

/**
 * The kinds of things that a user's call can change. `settings` decide where mail and secrets go, how people sign in,
 * and who acts for whom. An application needs the scope `account` for them, and an administrator who impersonates a
 * user can never change them. `things` is everything else, including reading settings.
 */
export type CallClass =
  | {
      readonly class: 'things';
      readonly applicationScope: ApplicationScope;
      /** The handler's decision depends on the time of the caller's sign-in. */
      readonly readsSignIn?: true;
      readonly stepUp?: never;
      readonly needsCapability?: never;
    }
  | {
      readonly class: 'settings';
      readonly stepUp: StepUp;
      readonly applicationScope?: never;
      readonly readsSignIn?: never;
      readonly needsCapability?: never;
    };
/** The endpoint accepts the session's capability token in `X-Service-Token` in addition to the agent key. */
type AgentAccess = {
  readonly needsCapability: true;
  readonly class?: never;
  readonly applicationScope?: never;
  readonly stepUp?: never;
  readonly readsSignIn?: never;
};
export type Access = CallClass | AgentAccess;

type UserCaller = 'user' | 'admin' | 'owner' | 'system_admin';
/** Every endpoint that accepts users states its class, because a default could be forgotten. */
export type NamesAccess<By extends Who> = By extends readonly Caller[]
  ? Extract<By[number], UserCaller> extends never
    ? { readonly access?: AgentAccess }
    : { readonly access: CallClass }
  : { readonly access?: never };

type WithAccess = { readonly access?: Access | undefined };
export const stepUpOf = ({ access }: WithAccess): StepUp => access?.stepUp ?? 'none';
/** A contract without a class accepts no users. If one does by mistake, the narrowest scope applies. */
export const applicationScopeOf = ({ access }: WithAccess): ApplicationScope =>
  access?.applicationScope ?? 'account';
