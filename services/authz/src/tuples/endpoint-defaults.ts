/** What requests to and responses of the tuple endpoints have in common. */
import { printToken } from '@cardea/http';

export const LOG = 'authz';
export const TAG = 'Fine-grained authorization';

/** Any user or agent of the tenant may send questions; agent keys are not accepted here. */
export const READS = {
  who: ['user', 'agent_token', 'api_key:fga:read'],
  tenant: 'required',
  area: 'fga',
  tag: TAG,
  notTaken: { agent_key: { status: 401, code: 'unauthenticated' } },
} as const;
export const WRITES = { ...READS, who: ['admin', 'api_key:fga:write'] } as const;

/** Why a question cannot be answered at the moment. */
export const UNANSWERED = {
  evaluation_budget_exceeded: 503,
  not_caught_up: 503,
  overloaded: 503,
} as const;

/** What every question carries: whose tuples, and how new the answer must be. */
export const askingOf = ({
  tenantId,
  positionSeen,
}: {
  readonly tenantId: string;
  readonly positionSeen: bigint | undefined;
}) => ({ tenantId, atLeast: positionSeen });

export const consistent = (position: bigint) => ({
  'X-Service-Consistency': printToken(LOG, position),
});
