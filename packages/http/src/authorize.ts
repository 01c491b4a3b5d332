/**
 * Authenticates a caller and decides, from the headers alone, what it may call, in the order that the product
 * promises: authentication 401, tenant header 400, tenant match 403, scope or role 403.
 */
import type { Authenticator, Principal, TooManyMisses } from '@cardea/auth';
import { type Caller, USER_CALLERS } from './caller.ts';
import type { Contract } from './endpoint.ts';
import type { HttpContext } from './http-context.ts';
import { type Refusal, refusalOf } from './refusal.ts';
import type { Route } from './route.ts';

const BEARER = /^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i;
/** An access token is at most 8 KiB (`docs/design/tokens.md`, Checks of a token). */
const BEARER_MAX_CHARS = 8 * 1024;
const TENANT = /^[\x21-\x2b\x2d-\x7e]{1,128}$/;

export type CallerAuthorization =
  | { readonly principal: Principal | undefined; readonly tenantId: string }
  /** `principal`, where the caller is known, is for the record of the refusal. */
  | { readonly refusal: Refusal; readonly principal: Principal | undefined };

/** A promise only where the credential has to be asked for. */
export function authorize(
  http: HttpContext,
  route: Route,
): CallerAuthorization | Promise<CallerAuthorization> {
  if (route.contract.who === 'anyone' || http.doubled.has('authorization')) {
    return authorizedCaller(undefined, http, route.contract);
  }
  const found = authenticated(http, route.group.authenticator);
  return found instanceof Promise
    ? found.then((principal) => authorizedCaller(principal, http, route.contract))
    : authorizedCaller(found, http, route.contract);
}

function authorizedCaller(
  found: Principal | TooManyMisses | undefined,
  http: HttpContext,
  contract: Contract,
): CallerAuthorization {
  if (found?.kind === 'too_many_misses') {
    const headers = { 'Retry-After': String(found.retryAfterSeconds) };
    return { refusal: refusalOf('rate_limited', { headers }), principal: undefined };
  }
  const principal = found;
  const { who } = contract;
  const untaken =
    who === 'anyone' || principal === undefined ? undefined : notTaken(principal, who, contract);
  if (who !== 'anyone') {
    if (principal === undefined) return { refusal: refusalOf('unauthenticated'), principal };
    // All 401s come first, before the response reveals anything about the tenant.
    if (untaken?.status === 401) return { refusal: untaken, principal };
  }
  const tenant = tenantOf(http, contract, principal);
  if (typeof tenant !== 'string') return { refusal: tenant, principal };
  if (who !== 'anyone' && principal !== undefined) {
    const refusal =
      untaken ?? withoutApplicationScope(principal, contract) ?? withoutRight(principal, who);
    if (refusal !== undefined) return { refusal, principal };
  }
  return { principal, tenantId: tenant };
}

/**
 * Checks the caller's role again after the body has been read, because reading it may have taken long and
 * the role may have been revoked since.
 */
export async function confirm(
  contract: Contract,
  principal: Principal,
  authenticator: Authenticator,
): Promise<{ readonly principal: Principal } | { readonly refusal: Refusal }> {
  const now = await authenticator.confirm(principal);
  if (now === undefined) return { refusal: refusalOf('unauthenticated') };
  const refusal = contract.who === 'anyone' ? undefined : withoutRight(now, contract.who);
  return refusal === undefined ? { principal: now } : { refusal };
}

function authenticated(
  { request, ip }: HttpContext,
  authenticator: Authenticator,
): ReturnType<Authenticator['authenticate']> {
  const credential = BEARER.exec(request.headers.authorization ?? '')?.[1];
  if (credential === undefined || credential.length > BEARER_MAX_CHARS) return undefined;
  return authenticator.authenticate(credential, ip, request.socket);
}

function tenantOf(
  { request, doubled }: HttpContext,
  contract: Contract,
  principal: Principal | undefined,
): string | Refusal {
  if (contract.tenant === 'none' && principal === undefined) return '';
  const header = request.headers['x-service-tenant'];
  if (header === undefined) {
    return contract.tenant === 'required'
      ? refusalOf('tenant_required')
      : (principal?.tenantId ?? '');
  }
  if (doubled.has('x-service-tenant') || typeof header !== 'string' || !TENANT.test(header)) {
    return refusalOf('tenant_required');
  }
  if (principal === undefined) return header;
  return header === principal.tenantId ? header : refusalOf('tenant_mismatch');
}

const isScope = (caller: Caller) => caller.startsWith('api_key:');
const scopeOf = (caller: Caller) => caller.slice('api_key:'.length);

/** The response to an authenticated caller of a kind that the endpoint does not accept. */
function notTaken(
  principal: Principal,
  who: readonly Caller[],
  contract: Contract,
): Refusal | undefined {
  if (takesKind(principal, who)) return undefined;
  const byKey = principal.kind === 'agent' && principal.via === 'key';
  const other =
    (byKey ? contract.notTaken?.agent_key : undefined) ?? contract.notTaken?.[principal.kind];
  if (other === undefined) return refusalOf('forbidden');
  const message = 'This endpoint does not take a credential of this kind.';
  return { status: other.status, code: other.code, message };
}

function takesKind(principal: Principal, who: readonly Caller[]): boolean {
  switch (principal.kind) {
    case 'user':
      return who.some((caller) => USER_CALLERS.includes(caller));
    case 'agent':
      return who.includes(principal.via === 'key' ? 'agent_key' : 'agent_token');
    case 'api_key':
      return who.some(isScope);
  }
}

/**
 * An application is its user only as far as the user has let it: consent to show a name lends neither the
 * account nor a role.
 */
function withoutApplicationScope(
  principal: Principal,
  { applicationScope }: Contract,
): Refusal | undefined {
  if (principal.kind !== 'user' || principal.clientId === null) return undefined;
  // A contract that names none takes no users; the widest is asked for where one slipped through.
  const scope = applicationScope ?? 'account';
  if (scope === 'any' || principal.scopes?.includes(scope)) return undefined;
  return refusalOf('insufficient_scope', {
    message: `The application lacks the scope ${scope}.`,
    details: { scope },
  });
}

/** The kind of caller is right, but the role or scope is missing. */
function withoutRight(principal: Principal, who: readonly Caller[]): Refusal | undefined {
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
  }
}
