/**
 * Authenticates a caller and decides from the headers alone what it may call. The order is part of the contract:
 * authentication 401, tenant header 400, tenant match 403, scope or role 403, recent sign-in 401.
 */
import {
  type Authentication,
  type ClientPrincipal,
  DPOP_ALGORITHMS,
  type Principal,
  type Unproven,
  type UserPrincipal,
} from '@cardea/auth';
import { storedId } from '@cardea/runtime';
import { type Caller, machineScopeOf, type StepUp } from '../contract/caller.ts';
import type { Contract } from '../contract/contract.ts';
import { type Refusal, refusalOf } from '../refusals/refusal.ts';
import type { Call } from './call.ts';
import type { Route } from './route.ts';

const TENANT = /^[\x21-\x2b\x2d-\x7e]{1,128}$/;

export type CallerAuthorization =
  | { readonly principal: Principal | undefined; readonly tenantId: string }
  /** `principal`, if the caller is known, is for the record of the refusal. */
  | { readonly refusal: Refusal; readonly principal: Principal | undefined };

/** Returns a promise only if the credential has to be looked up. */
export function authorize(
  call: Call,
  route: Route,
): CallerAuthorization | Promise<CallerAuthorization> {
  if (route.contract.who === 'anyone' || call.doubled.has('authorization')) {
    return authorizedCaller(undefined, call, route);
  }
  const found = call.authenticated(route.group.authenticator);
  return found instanceof Promise
    ? found.then((principal) => authorizedCaller(principal, call, route))
    : authorizedCaller(found, call, route);
}

function authorizedCaller(found: Authentication, call: Call, route: Route): CallerAuthorization {
  if (found?.kind === 'too_many_misses') {
    const headers = { 'Retry-After': String(found.retryAfterSeconds) };
    return { refusal: refusalOf('rate_limited', { headers }), principal: undefined };
  }
  if (found?.kind === 'unproven') {
    return { refusal: withoutPossession(found.error), principal: undefined };
  }
  const principal = found;
  const { contract } = route;
  const { who } = contract;
  const isTaken = who === 'anyone' || principal === undefined || takesKind(principal, who, route);
  const untaken = isTaken ? undefined : notTaken(principal, contract);
  if (who !== 'anyone') {
    if (principal === undefined) return { refusal: refusalOf('unauthenticated'), principal };
    // All 401s come first, before the response could reveal anything about the tenant.
    if (untaken?.status === 401) return { refusal: untaken, principal };
  }
  const tenant = tenantOf(call, contract, principal);
  if (typeof tenant !== 'string') return { refusal: tenant, principal };
  if (who !== 'anyone' && principal !== undefined) {
    const refusal =
      untaken ??
      withoutClass(principal, route) ??
      withoutRight(principal, contract) ??
      (principal.kind === 'user' && route.stepUp !== 'none'
        ? withoutRecentSignIn(principal, { stepUp: route.stepUp, now: call.parts.clock.now() })
        : undefined);
    if (refusal !== undefined) return { refusal, principal };
  }
  return { principal, tenantId: tenant };
}

/**
 * Checks the caller's role and sign-in again after the body has been read. Reading it may have taken long,
 * and a token alone does not show that its role was removed or that its session has ended.
 */
export async function confirm(
  { contract, group, stepUp }: Route,
  principal: Principal,
): Promise<{ readonly principal: Principal } | { readonly refusal: Refusal }> {
  const now = await group.authenticator.confirm(principal);
  if (now === undefined) return { refusal: refusalOf('unauthenticated') };
  const refusal =
    withoutRight(now, contract) ?? (now.kind === 'user' ? withoutSignIn(now, stepUp) : undefined);
  return refusal === undefined ? { principal: now } : { refusal };
}

/** RFC 9449, 7.1: tells the caller that its token is bound to a key, and which algorithms it can use for proofs. */
export const possessionChallenge = (error: Unproven['error']): string =>
  `DPoP error="${error}", algs="${DPOP_ALGORITHMS.join(' ')}"`;

const withoutPossession = (error: Unproven['error']): Refusal =>
  refusalOf('unauthenticated', { headers: { 'WWW-Authenticate': possessionChallenge(error) } });

function tenantOf(
  { headers, doubled }: Call,
  contract: Contract,
  principal: Principal | undefined,
): string | Refusal {
  if (contract.tenant === 'none' && principal === undefined) return '';
  const header = headers['x-service-tenant'];
  if (header === undefined) {
    return contract.tenant === 'required'
      ? refusalOf('tenant_required')
      : (principal?.tenantId ?? '');
  }
  if (doubled.has('x-service-tenant') || typeof header !== 'string' || !TENANT.test(header)) {
    return refusalOf('tenant_required');
  }
  const tenantId = storedId(header);
  if (principal === undefined) return tenantId;
  return tenantId === principal.tenantId ? tenantId : refusalOf('tenant_mismatch');
}

const isScope = (caller: Caller) => caller.startsWith('api_key:');
const scopeOf = (caller: Caller) => caller.slice('api_key:'.length);

/** The response to an authenticated caller of a kind that the endpoint does not accept. */
function notTaken(principal: Principal, contract: Contract): Refusal {
  const byKey = principal.kind === 'agent' && principal.via === 'key';
  const other =
    (byKey ? contract.notTaken?.agent_key : undefined) ?? contract.notTaken?.[principal.kind];
  if (other === undefined) return refusalOf('forbidden');
  const message = 'This endpoint does not take a credential of this kind.';
  return { status: other.status, code: other.code, message };
}

function takesKind(
  principal: Principal,
  who: readonly Caller[],
  { contract: { machine = 'never' }, takesUsers }: Route,
): boolean {
  switch (principal.kind) {
    case 'user':
      return takesUsers;
    case 'agent':
      return who.includes(principal.via === 'key' ? 'agent_key' : 'agent_token');
    case 'api_key':
      return who.some(isScope);
    case 'client':
      return machine !== 'never';
  }
}

/**
 * Refuses calls beyond what the user has allowed the application: consent to show a name grants neither the account nor
 * a role. Also refuses an administrator who impersonates a user and tries to change a setting.
 */
function withoutClass(
  principal: Principal,
  { contract, applicationScope: scope }: Route,
): Refusal | undefined {
  if (principal.kind !== 'user') return undefined;
  if (principal.impersonatedBy !== null && contract.access?.class === 'settings') {
    return refusalOf('forbidden', { message: 'Only the user in person may do this.' });
  }
  if (principal.clientId === null) return undefined;
  if (scope === 'any' || principal.scopes?.includes(scope)) return undefined;
  return refusalOf('insufficient_scope', {
    message: `The application lacks the scope ${scope}.`,
    details: { scope },
  });
}

/** The kind of caller is right, but the role or scope is missing. */
function withoutRight(principal: Principal, contract: Contract): Refusal | undefined {
  const { who } = contract;
  if (who === 'anyone') return undefined;
  switch (principal.kind) {
    case 'user':
      if (who.includes('user')) return undefined;
      return who.some((caller) => principal.roles.includes(caller))
        ? undefined
        : refusalOf('forbidden');
    case 'agent':
      return undefined;
    case 'api_key': {
      if (who.some((caller) => isScope(caller) && principal.scopes.includes(scopeOf(caller)))) {
        return undefined;
      }
      const scope = scopeOf(who.find(isScope) as Caller);
      return refusalOf('insufficient_scope', {
        message: `The API key lacks the scope ${scope}.`,
        details: { scope },
      });
    }
    case 'client':
      return machineWithoutRight(principal, who, contract);
  }
}

function machineWithoutRight(
  { roles, scopes }: ClientPrincipal,
  who: readonly Caller[],
  contract: Contract,
): Refusal | undefined {
  const scope = machineScopeOf(contract);
  if (scope === undefined) return undefined;
  if (!scopes.includes(scope)) {
    return refusalOf('insufficient_scope', {
      message: `The application lacks the scope ${scope}.`,
      details: { scope },
    });
  }
  // If a key's scope suffices, so does the machine's.
  if (who.some(isScope) || who.some((caller) => roles.includes(caller))) return undefined;
  return refusalOf('forbidden');
}

/** The maximum age of a recent sign-in. */
export const AUTH_AGE_SECONDS_MAX = 600;
const MS = 1_000;

/** The challenge of a 401 `step_up_required` (RFC 9470, section 3). */
export const stepUpHeaders = (maxAgeSeconds: number) => ({
  'WWW-Authenticate': `Bearer error="insufficient_user_authentication", max_age="${maxAgeSeconds}"`,
});

type SignIn = Pick<UserPrincipal, 'authTime' | 'clientId'>;

/**
 * Some calls require a recent sign-in, however old the session is (RFC 9470). Access tokens contain the
 * time of the sign-in. The request pipeline checks it first from the token, and again after identity has confirmed the
 * caller. If the session has ended, identity reports no sign-in, so the second check fails.
 */
export function withoutRecentSignIn(
  signIn: SignIn,
  { stepUp, now }: { readonly stepUp: StepUp; readonly now: Date },
): Refusal | undefined {
  const { authTime, clientId } = signIn;
  if (!asksFor(stepUp, clientId)) return undefined;
  const isRecent = authTime !== null && now.getTime() / MS - authTime < AUTH_AGE_SECONDS_MAX;
  return isRecent ? undefined : stepUpRequired();
}

/** Does not compare the age again, because an accepted call may last longer than the sign-in stays recent. */
export const withoutSignIn = (
  { authTime, clientId }: SignIn,
  stepUp: StepUp,
): Refusal | undefined =>
  authTime === null && asksFor(stepUp, clientId) ? stepUpRequired() : undefined;

const stepUpRequired = (): Refusal =>
  refusalOf('step_up_required', { headers: stepUpHeaders(AUTH_AGE_SECONDS_MAX) });

function asksFor(stepUp: StepUp, clientId: string | null): boolean {
  switch (stepUp) {
    case 'users':
      return true;
    case 'applications':
      return clientId !== null;
    case 'none':
      return false;
  }
}
