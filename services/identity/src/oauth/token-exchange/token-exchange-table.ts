/**
 * The table of permitted token exchanges (RFC 8693): who may send which token, for which audience, with which scopes. A
 * request that matches no row is refused.
 */
import type { TokenExchangeRequest } from '../../adapters/authorization-ports.ts';

export const ACCESS_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:access_token';
export const SERVICE_SCOPE = 'service:';

type TokenExchangeRow = {
  readonly who: TokenExchangeRequest['who'];
  readonly subjectTokenType: string;
  readonly issuedTokenType: string;
  /** `own` is Cardea's own API, which is also the default when a request names no audience. */
  readonly audience: 'own';
  /** The prefix of each scope name. */
  readonly scopePrefix: string;
  readonly exchange: 'agent_session';
};

const EXCHANGES: readonly TokenExchangeRow[] = [
  {
    who: 'agent',
    subjectTokenType: ACCESS_TOKEN_TYPE,
    issuedTokenType: ACCESS_TOKEN_TYPE,
    audience: 'own',
    scopePrefix: SERVICE_SCOPE,
    exchange: 'agent_session',
  },
];

export const scopeNames = (scope: string | undefined): readonly string[] =>
  scope === undefined || scope === '' ? [] : scope.split(' ');

/** No permitted exchange has an actor token, and none issues a token that is bound to a key. */
export function tokenExchangeOf(
  request: TokenExchangeRequest,
  ownAudience: string,
): TokenExchangeRow | undefined {
  const { actorToken, actorTokenType, provesKey } = request;
  if (actorToken !== undefined || actorTokenType !== undefined || provesKey) return undefined;
  return EXCHANGES.find((row) => isTaken(row, request, ownAudience));
}

function isTaken(
  row: TokenExchangeRow,
  request: TokenExchangeRequest,
  ownAudience: string,
): boolean {
  const { audience = ownAudience, resource = ownAudience } = request;
  const { requestedTokenType = row.issuedTokenType } = request;
  return (
    request.who === row.who &&
    request.subjectTokenType === row.subjectTokenType &&
    requestedTokenType === row.issuedTokenType &&
    audience === ownAudience &&
    resource === ownAudience &&
    scopeNames(request.scope).every((name) => name.startsWith(row.scopePrefix))
  );
}
