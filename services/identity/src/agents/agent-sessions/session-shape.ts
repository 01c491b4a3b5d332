/** The schemas of agent sessions in requests and responses. */
import { NullableTime, named, Time } from '@cardea/contracts';
import Type from 'typebox';
import { closed } from '../../http/answers.ts';
import { AgentId, NullableText } from '../agents/agent-shape.ts';
import { copied, isConcrete, type ServiceGrant, ServiceGrants } from '../agents/service-grant.ts';
import type { AgentSessionFacts } from './agent-session.ts';

export const PATH = '/api/v1/agent/sessions';
export const SessionId = AgentId;

export const Status = named('AgentSessionStatus', Type.Enum(['active', 'ended']));
const sessionFields = {
  id: Type.String(),
  agent_id: Type.String(),
  user_id: NullableText,
  status: Status,
  services: ServiceGrants,
  created_at: Time,
  expires_at: Time,
};
export const SessionShape = named(
  'AgentSession',
  closed({
    ...sessionFields,
    purpose: NullableText,
    ended_at: NullableTime,
  }),
);
export const TokensShape = closed({
  data: named(
    'AgentSessionTokens',
    closed({
      ...sessionFields,
      capability_token: Type.String(),
      capability_expires_at: Time,
      agent_token: Type.String(),
      expires_in: Type.Integer(),
    }),
  ),
});

/** The refusal of a caller with a valid credential that is not an agent key. */
export const KEYS_ONLY = {
  user: { status: 401, code: 'invalid_agent_key' },
  agent: { status: 401, code: 'invalid_agent_key' },
  api_key: { status: 401, code: 'invalid_agent_key' },
} as const;

/** A session names the fields that it requests. It may request none; then its agent may only request approvals. */
export const servicesFault = (services: readonly ServiceGrant[]) =>
  isConcrete(services) ? undefined : 'concrete';

const TTL_MIN_S = 60;
const TTL_MAX_S = 86_400;
export const Ttl = Type.Integer({ minimum: TTL_MIN_S, maximum: TTL_MAX_S });

export type ShownFacts = Pick<
  AgentSessionFacts,
  'id' | 'agent_id' | 'user_id' | 'services' | 'purpose' | 'created_at' | 'expires_at' | 'ended_at'
>;

export const shownBriefly = (session: ShownFacts, now: Date) => {
  const isOpen = session.ended_at === null && now < new Date(session.expires_at);
  return {
    id: session.id,
    agent_id: session.agent_id,
    user_id: session.user_id,
    status: isOpen ? ('active' as const) : ('ended' as const),
    services: copied(session.services),
    created_at: session.created_at,
    expires_at: session.expires_at,
  };
};

export const shown = (session: ShownFacts, now: Date) => ({
  ...shownBriefly(session, now),
  purpose: session.purpose,
  ended_at: session.ended_at,
});

/** The endpoint by which a user lets an agent act for them. */
export const GRANT_DELEGATION = 'POST /api/v1/me/delegations';

/** Names the missing delegation and how the user grants it. Unknown ids get the same response. */
export const delegationRequired = (agentId: string, services: readonly ServiceGrant[]) =>
  ({
    refused: 'delegation_required',
    message: `The user has to let this agent act for them: ${GRANT_DELEGATION}.`,
    details: { agent_id: agentId, services, endpoint: GRANT_DELEGATION },
  }) as const;
