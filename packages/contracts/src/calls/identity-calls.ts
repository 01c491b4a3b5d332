/** The calls that other services make to identity (`docs/design/tokens.md`, What services ask identity). */
import Type from 'typebox';
import { nullable } from '../fields.ts';
import { type AnswerOf, internalCalls, type RequestOf, TENANT_REFUSALS } from './internal-call.ts';

const MARKS_MAX = 100;
const TOKEN_MAX_CHARS = 8_192;
const text = Type.String({ minLength: 1 });
/** The most persons of one query: one more than a set of approvers may have. */
const PEOPLE_MAX = 101;
const textOrNull = nullable(Type.String());

/** A key of the set. Keys are checked one by one, so that a malformed one does not make the others unusable. */
const jwk = Type.Object({}, { additionalProperties: true });

const ofKey = {
  id: text,
  tenantId: text,
  appId: textOrNull,
  /** Unix seconds. */
  expiresAt: nullable(Type.Number()),
  stamp: Type.Optional(text),
};
const introspectedKey = Type.Union([
  Type.Object({
    ...ofKey,
    kind: Type.Literal('api_key'),
    scopes: Type.Array(Type.String()),
    environment: Type.Enum(['live', 'test']),
  }),
  Type.Object({
    ...ofKey,
    kind: Type.Literal('agent'),
    via: Type.Enum(['token', 'key']),
    userId: textOrNull,
    agentSessionId: textOrNull,
    keyId: textOrNull,
    allowedCidrs: Type.Array(Type.String()),
  }),
]);

const mark = Type.Object({
  kind: Type.Enum(['sid', 'user', 'key', 'agent', 'asid', 'rank', 'signin', 'tenant', 'consent']),
  id: Type.String(),
  at: Type.Optional(Type.Number()),
});

const agentFacts = Type.Object({
  services: Type.Array(
    Type.Object({
      service_name: Type.String(),
      fields: Type.Array(Type.String()),
      /** The time at which the entry ends. */
      until: Type.Optional(Type.String()),
      approval_id: Type.Optional(Type.String()),
    }),
  ),
  owner_user_id: textOrNull,
});
const sessionFacts = Type.Object({
  agent_id: Type.String(),
  user_id: textOrNull,
  epoch: Type.Integer(),
  expires_at: Type.String(),
  ended_at: textOrNull,
});
const pageToken = Type.String({ minLength: 1, maxLength: TOKEN_MAX_CHARS });
const challenge = Type.Object({
  challenge_id: text,
  options: Type.Object({}, { additionalProperties: true }),
});

const userFacts = Type.Object({ status: Type.String(), vouched: Type.Boolean() });

export const identityCalls = internalCalls({
  jwks: {
    name: 'internal_jwks',
    summary: 'The public keys, read from the log each time',
    method: 'get',
    path: '/internal/v1/jwks',
    ok: Type.Object({ keys: Type.Array(jwk) }),
    refusals: {},
  },
  introspect: {
    name: 'internal_introspect',
    summary: 'What an API key or an agent key is worth now; null: nothing',
    method: 'post',
    path: '/internal/v1/introspect',
    body: Type.Object({ token: text }),
    ok: Type.Object({ key: nullable(introspectedKey) }),
    refusals: {},
  },
  ended: {
    name: 'internal_ended',
    summary:
      'Which of these users, agents, keys and sessions are over, in the order of the question',
    method: 'post',
    path: '/internal/v1/ended',
    body: Type.Object({ marks: Type.Array(mark, { maxItems: MARKS_MAX }) }),
    ok: Type.Object({ ended: Type.Array(Type.Boolean()) }),
    refusals: {},
  },
  origins: {
    name: 'internal_origins',
    summary: 'Origins whose pages may call, with the tenants that allow them',
    method: 'get',
    path: '/internal/v1/origins',
    ok: Type.Object({
      origins: Type.Array(Type.Object({ origin: text, tenants: Type.Array(text) })),
    }),
    refusals: {},
  },
  pageToken: {
    name: 'internal_page_token',
    summary:
      'A new access token of the pages in place of one that ends or has ended; null: its sign-in is over',
    method: 'post',
    path: '/internal/v1/page-token',
    body: Type.Object({ token: pageToken }),
    ok: Type.Object({ token: nullable(text) }),
    refusals: {},
  },
  proofs: {
    name: 'internal_proofs',
    summary:
      'By what the person of a page can confirm the sign-in; a challenge for a passkey on request',
    method: 'post',
    path: '/internal/v1/proofs',
    body: Type.Object({ token: pageToken, withChallenge: Type.Boolean() }),
    ok: Type.Object({
      ways: Type.Array(Type.Enum(['passkey', 'code', 'password'])),
      challenge: nullable(challenge),
    }),
    refusals: {},
  },
  stepUp: {
    name: 'internal_step_up',
    summary: 'Confirms the sign-in of a page by a factor, as `POST /api/v1/auth/step-up` does',
    method: 'post',
    path: '/internal/v1/step-up',
    body: Type.Object({
      token: pageToken,
      ip: Type.String(),
      userAgent: Type.String(),
      requestId: Type.String(),
      proof: Type.Union([
        Type.Object({ method: Type.Literal('password'), password: Type.String() }),
        Type.Object({ method: Type.Literal('code'), code: Type.String({ maxLength: 64 }) }),
        Type.Object({
          method: Type.Literal('passkey'),
          challenge_id: Type.String({ maxLength: 128 }),
          response: Type.Object({}, { additionalProperties: true }),
        }),
      ]),
    }),
    ok: Type.Union([
      Type.Object({ token: text }),
      Type.Object({ refused: text, status: Type.Integer(), retryAfter: textOrNull }),
    ]),
    refusals: {},
  },
  facts: {
    name: 'internal_facts',
    summary:
      'An agent, an agent session and a user as their streams have them; null: none is known',
    method: 'post',
    path: '/internal/v1/facts',
    body: Type.Object({
      tenantId: text,
      agentId: Type.Optional(text),
      sessionId: Type.Optional(text),
      userId: Type.Optional(text),
    }),
    ok: Type.Object({
      agent: nullable(agentFacts),
      session: nullable(sessionFacts),
      user: nullable(userFacts),
    }),
    refusals: TENANT_REFUSALS,
    tenantField: 'tenantId',
  },
  people: {
    name: 'internal_people',
    summary:
      'Users as their streams have them: those who are named, or those with a role, at most 101; unknown ones are left out',
    method: 'post',
    path: '/internal/v1/people',
    body: Type.Object({
      tenantId: text,
      userIds: Type.Optional(Type.Array(text, { maxItems: PEOPLE_MAX })),
      role: Type.Optional(text),
    }),
    ok: Type.Object({
      people: Type.Array(
        Type.Object({
          id: text,
          status: Type.String(),
          vouched: Type.Boolean(),
          roles: Type.Array(Type.String()),
        }),
        { maxItems: PEOPLE_MAX },
      ),
    }),
    refusals: TENANT_REFUSALS,
    tenantField: 'tenantId',
  },
});

export type UsersRequest = RequestOf<(typeof identityCalls)['people']>;
export type Person = AnswerOf<(typeof identityCalls)['people']>['people'][number];
export type FactsRequest = RequestOf<(typeof identityCalls)['facts']>;
/**
 * The current state of identity's streams. A field is null when the tenant has no such object, or the request did not
 * name it.
 */
export type CurrentFacts = AnswerOf<(typeof identityCalls)['facts']>;
