/** Token exchange (RFC 8693): an agent starts a session for the user whose token it sends. */
import type { AgentPrincipal } from '@cardea/auth';
import { isRecorded } from '@cardea/http';
import type { Positions } from '@cardea/read-models';
import { failpoint } from '@cardea/runtime';
import type {
  Message,
  Ports,
  TokenExchangeFault,
  TokenExchangeRequest,
} from '../../adapters/authorization-ports.ts';
import {
  type AgentSessionStart,
  isServiceName,
  SERVICES_MAX,
  START_CONTRACT,
  SUBJECT_TOKEN_MAX,
} from '../../agents/agents.module.ts';
import type { KnownResources } from '../resource-servers/known-resources.ts';
import { recordDenial, requestOf } from '../server/requests.ts';
import { type AgentClientDependencies, agentClients } from './agent-clients.ts';
import {
  ACCESS_TOKEN_TYPE,
  SERVICE_SCOPE,
  scopeNames,
  tokenExchangeOf,
} from './token-exchange-table.ts';

type Dependencies = {
  readonly positions: Pick<Positions, 'reached'>;
  readonly resources: Pick<KnownResources, 'builtIn'>;
  readonly startAgentSession: AgentSessionStart;
};

const TABLE_WAIT_MS = 2_000;

export function tokenExchange(
  deps: Dependencies & AgentClientDependencies,
): Pick<Ports, 'agentClient' | 'exchange' | 'provesAgent'> {
  const { provenAgent, ...clients } = agentClients(deps);
  return {
    ...clients,
    exchange: async (message, request) => {
      const agent = provenAgent(message);
      const row = tokenExchangeOf(request, deps.resources.builtIn);
      if (agent === undefined || row === undefined) return { fault: 'invalid_request' };
      switch (row.exchange) {
        case 'agent_session':
          return startedFor(deps, message, { agent, request });
      }
    },
  };
}

async function startedFor(
  deps: Dependencies,
  message: Message,
  { agent, request }: { readonly agent: AgentPrincipal; readonly request: TokenExchangeRequest },
): Promise<object | TokenExchangeFault> {
  const { subjectToken } = request;
  if (subjectToken === undefined || subjectToken.length > SUBJECT_TOKEN_MAX) {
    return { fault: 'invalid_request' };
  }
  const names = scopeNames(request.scope).map((name) => name.slice(SERVICE_SCOPE.length));
  const whole = [...new Set(names)];
  if (whole.length > SERVICES_MAX || !whole.every(isServiceName)) return { fault: 'invalid_scope' };
  const { name: operation } = START_CONTRACT;
  const of = { principal: agent, tenantId: agent.tenantId, operation };
  const started = await deps.startAgentSession(
    { ...requestOf(message), ...of },
    { services: { whole }, subjectToken },
  );
  if ('refused' in started) return refused(message, agent, started);
  await failpoint('exchange.after_start');
  const { session, tokens } = started.ok;
  await isListed(deps, started.wrote);
  return {
    access_token: tokens.agent_token,
    issued_token_type: ACCESS_TOKEN_TYPE,
    token_type: 'Bearer',
    expires_in: tokens.expires_in,
    ...(whole.length === 0 ? {} : { scope: whole.map((name) => SERVICE_SCOPE + name).join(' ') }),
    agent_session_id: session.id,
    capability_token: tokens.capability_token,
  };
}

/**
 * The agent will probably read its session next, so this waits for the table. If the table lags, the tokens are
 * returned anyway.
 */
async function isListed({ positions }: Dependencies, wrote: bigint | undefined): Promise<void> {
  if (wrote === undefined) return;
  await positions.reached(['agent_sessions'], wrote, TABLE_WAIT_MS).catch(() => false);
}

type Refused = Extract<Awaited<ReturnType<AgentSessionStart>>, { readonly refused: string }>;

/** Records the refusal in the same form as the endpoint that starts agent sessions. */
async function refused(
  message: Message,
  agent: AgentPrincipal,
  refusal: Refused,
): Promise<TokenExchangeFault> {
  const { name: operation, refusals } = START_CONTRACT;
  const { refused: code } = refusal;
  const { [code]: status } = refusals;
  if (isRecorded(START_CONTRACT, { status, code })) {
    const denial = { principal: agent, area: 'agent', operation, reason: code, status } as const;
    await recordDenial(message, denial);
  }
  switch (refusal.refused) {
    case 'rate_limited':
      return { fault: 'too_many', retryAfterSeconds: refusal.headers['Retry-After'] };
    case 'invalid_agent_key':
      return { fault: 'invalid_client' };
    case 'scope_not_granted':
      return { fault: 'invalid_scope' };
    case 'invalid_subject_token':
    case 'user_inactive':
    case 'delegation_required':
      return { fault: 'invalid_grant' };
    case 'invalid_request':
    case 'already_created':
    case 'idempotency_key_reused':
      return { fault: 'invalid_request' };
  }
}
