/** Token exchange (RFC 8693) in the authorization server's library, with agents as its clients. */
import { errors, Provider } from 'oidc-provider';
import { TooManyRequests } from './artifact-bounds.ts';
import type { Ctx, Ports, TokenExchangeFault } from './authorization-ports.ts';
import { provenKey } from './possession.ts';

export const TOKEN_EXCHANGE_GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';

const PARAMETERS = [
  ...['subject_token', 'subject_token_type', 'actor_token', 'actor_token_type'],
  ...['requested_token_type', 'audience', 'resource', 'scope'],
];
const TOKEN_PATH = '/oauth2/token';
/** Written to the log only. The agent had authenticated, so it is not an authentication failure. */
export const AGENT_ENDED = 'the agent was ended while it asked';

const isAgent = (client: object | undefined): boolean =>
  (client as { readonly agent?: unknown } | undefined)?.agent === true;

/** An agent is a client at the token endpoint only. */
export const agentPayload = async (
  { agentClient }: Pick<Ports, 'agentClient'>,
  id: string,
): Promise<object | undefined> => (Provider.ctx?.path === TOKEN_PATH ? agentClient(id) : undefined);

/** Whether the client authenticated with its secret, or the agent with its key. */
export async function isSecretRight(
  { hasSecret, provesAgent }: Pick<Ports, 'hasSecret' | 'provesAgent'>,
  client: { readonly clientId: string },
  shown: string,
): Promise<boolean> {
  if (!isAgent(client)) return hasSecret(client.clientId, shown);
  const { req } = Provider.ctx as Ctx;
  const proven = await provesAgent(req, client.clientId, shown);
  if (proven === 'too_many') throw new TooManyRequests('too many wrong keys from this address');
  return proven;
}

export function registerTokenExchange(provider: Provider, ports: Pick<Ports, 'exchange'>): void {
  const handle = (ctx: unknown) => exchanged(ports, ctx as Ctx);
  provider.registerGrantType(TOKEN_EXCHANGE_GRANT, handle, PARAMETERS, []);
}

async function exchanged({ exchange }: Pick<Ports, 'exchange'>, ctx: Ctx): Promise<void> {
  const { client, params = {} } = ctx.oidc;
  const text = (name: string): string | undefined => {
    const { [name]: value } = params;
    return typeof value === 'string' ? value : undefined;
  };
  const answer = await exchange(ctx.req, {
    who: isAgent(client) ? 'agent' : 'application',
    subjectToken: text('subject_token'),
    subjectTokenType: text('subject_token_type'),
    actorToken: text('actor_token'),
    actorTokenType: text('actor_token_type'),
    requestedTokenType: text('requested_token_type'),
    audience: text('audience'),
    resource: text('resource'),
    scope: text('scope'),
    provesKey: provenKey(ctx.req) !== undefined,
  });
  if (!('fault' in answer)) {
    ctx.body = answer;
    return;
  }
  if (answer.fault === 'too_many') ctx.set('Retry-After', answer.retryAfterSeconds);
  throw errorOf(answer.fault);
}

function errorOf(fault: TokenExchangeFault['fault']): Error {
  switch (fault) {
    case 'invalid_client':
      return new errors.InvalidClientAuth(AGENT_ENDED);
    case 'invalid_grant':
      return new errors.InvalidGrant('the subject token is no live token of a user of the tenant');
    case 'invalid_request':
      return new errors.InvalidRequest('no exchange of these parameters exists for this client');
    case 'invalid_scope':
      // The library's own error would repeat the scope.
      return new errors.CustomOIDCProviderError(
        'invalid_scope',
        'a service of the scope is not granted to the agent field by field',
      );
    case 'too_many':
      return new TooManyRequests('too many sessions of this agent');
  }
}
