/** An agent opens a session with its key, for itself or on behalf of a user. */
import { documented } from '@cardea/contracts';
import { type Endpoint, endpoint } from '@cardea/http';
import Type from 'typebox';
import { closed } from '../../../http/answers.ts';
import { ConcreteGrants } from '../../agents/service-grant.ts';
import { KEYS_ONLY, PATH, shownBriefly, TokensShape, Ttl } from '../session-shape.ts';
import type { AgentSessionStart } from './start-session.ts';

type Dependencies = { readonly startAgentSession: AgentSessionStart };

const PURPOSE_MAX = 200;
export const SUBJECT_TOKEN_MAX = 8_192;

/**
 * The session is for a user by the user's token, for a user by a delegation, or for the agent itself. Any other
 * combination is refused with 400 `user_id exclusive`.
 */
const Body = documented(
  closed({
    services: Type.Optional(ConcreteGrants),
    subject_token: Type.Optional(Type.String({ maxLength: SUBJECT_TOKEN_MAX })),
    user_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    ttl_seconds: Type.Optional(Ttl),
    purpose: Type.Optional(Type.String({ maxLength: PURPOSE_MAX })),
  }),
  {
    not: { properties: { subject_token: {}, user_id: {} }, required: ['subject_token', 'user_id'] },
    examples: [
      {
        services: [{ service_name: 'erp', fields: ['api_key'] }],
        user_id: '01a1ff78-5d3c-7b7e-9c3e-6f2d1b0a4c55',
        ttl_seconds: 3_600,
        purpose: 'File the invoices of November',
      },
    ],
  },
);

/** Refusal codes of requests for a session, at all endpoints. */
export const START_CONTRACT = {
  name: 'start_agent_session',
  method: 'post',
  refusals: {
    invalid_request: 400,
    invalid_subject_token: 400,
    invalid_agent_key: 401,
    scope_not_granted: 403,
    delegation_required: 403,
    user_inactive: 403,
    already_created: 409,
    idempotency_key_reused: 422,
    rate_limited: 429,
  },
} as const;

export const startAgentSessionRoute = ({ startAgentSession }: Dependencies): Endpoint =>
  endpoint(
    {
      tag: 'Agent sessions',
      name: START_CONTRACT.name,
      summary: 'Start an agent session',
      description:
        "Starts a period of an agent's work, for its own purposes or for a user: by `subject_token`, the user's access token, or by `user_id`, if the user has delegated to the agent. The session gets the services that it names if the agent, and the delegation, cover all of them. The answer has the agent's token and the capability token for vends. It lasts an hour unless stated, 24 hours at most. An agent may start sessions and ask for their tokens 120 times a minute.",
      method: START_CONTRACT.method,
      path: PATH,
      who: ['agent_key'],
      notTaken: KEYS_ONLY,
      body: Body,
      ok: TokensShape,
      response: { status: 201, codes: { unauthenticated: 'invalid_agent_key' } },
      refusals: START_CONTRACT.refusals,
      repeat: 'by_key',
      consistency: { waitsFor: ['agent_sessions'] },
    },
    async (request) => {
      const { services = [], subject_token, user_id, ttl_seconds, purpose } = request.body;
      const started = await startAgentSession(request, {
        services,
        purpose,
        subjectToken: subject_token,
        userId: user_id,
        ttlSeconds: ttl_seconds,
      });
      if ('refused' in started) return started;
      const { session, tokens, now } = started.ok;
      return { ok: { data: { ...shownBriefly(session, now), ...tokens } }, wrote: started.wrote };
    },
  );
