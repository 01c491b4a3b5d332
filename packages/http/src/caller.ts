/** Who may call an endpoint, and with which scope an application may in the name of its user. */
import type { AgentPrincipal, ApiKeyPrincipal, UserPrincipal } from '@cardea/auth';

/**
 * Whom an endpoint takes. A caller of a kind that is not listed gets 403 `forbidden`, unless `notTaken`
 * declares another response for that kind.
 */
export type Caller =
  /** A user's own token. */
  | 'user'
  /** A user's own token with role admin (403 `forbidden` without). */
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

/** True for an endpoint that changes something and requires a role. */
export const writesByRole = ({ who, method }: { readonly who: Who; readonly method: string }) =>
  method !== 'get' && who !== 'anyone' && who.some((caller) => ROLE_CALLERS.includes(caller));

/** True for an endpoint that accepts users by role only: an authorized caller acts as an admin. */
export const asksForRole = ({ who }: { readonly who: Who }): boolean =>
  who !== 'anyone' && !who.includes('user') && who.some((caller) => USER_CALLERS.includes(caller));

/** The callers that a handler can get, by its contract's `who`; undefined on `anyone` endpoints. */
export type CallerOf<By extends Who> = By extends readonly Caller[]
  ? PrincipalOf<By[number]>
  : undefined;
type PrincipalOf<Kind extends Caller> = Kind extends 'agent_token' | 'agent_key'
  ? AgentPrincipal
  : Kind extends `api_key:${string}`
    ? ApiKeyPrincipal
    : UserPrincipal;

/**
 * The scope with which an application may call in the name of its user: `account`, which only the tenant's own
 * can have; `roles`; `any` for every token of an application with a user.
 */
export type ApplicationScope = 'account' | 'roles' | 'any';
type UserCaller = 'user' | 'admin' | 'owner' | 'system_admin';
/** Whatever takes users names the scope: there is no default that could be forgotten. */
export type NamesScope<By extends Who> = By extends readonly Caller[]
  ? Extract<By[number], UserCaller> extends never
    ? { readonly applicationScope?: never }
    : { readonly applicationScope: ApplicationScope }
  : { readonly applicationScope?: never };
