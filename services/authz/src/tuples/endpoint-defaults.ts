/** What the endpoints of tuples have in common at the door and on the way out. */
import { printToken, type Request, readTokens } from '@cardea/http';

export const LOG = 'authz';
export const TAG = 'Fine-grained authorization';

/** Any user or agent of the tenant may ask; agent keys are no credential here. */
export const READS = {
  who: ['user', 'agent_token', 'api_key:fga:read'],
  tenant: 'required',
  area: 'fga',
  tag: TAG,
  notTaken: { agent_key: { status: 401, code: 'unauthenticated' } },
} as const;
export const WRITES = { ...READS, who: ['admin', 'api_key:fga:write'] } as const;

/** Why a question has no answer at the moment. */
export const UNANSWERED = {
  evaluation_budget_exceeded: 503,
  not_caught_up: 503,
  overloaded: 503,
} as const;

/** The position that the caller has seen of our log; 0 where it names none. */
export function positionSeen(request: Request<unknown, unknown, unknown>): bigint {
  const header = request.headers['x-service-consistency'];
  if (header === undefined) return 0n;
  const position = readTokens(header, LOG);
  return typeof position === 'bigint' ? position : 0n; // the door has refused malformed ones
}

export const consistent = (position: bigint) => ({
  'X-Service-Consistency': printToken(LOG, position),
});
