/** One endpoint per rule of the request pipeline, and one caller of each kind, identified by the credential. */
import type {
  AgentPrincipal,
  ApiKeyPrincipal,
  ClientPrincipal,
  Principal,
  UserPrincipal,
} from '@cardea/auth';
import { type Endpoint, endpoint } from '@cardea/http';
import Type from 'typebox';

export const user = (more: Partial<UserPrincipal> = {}): UserPrincipal => ({
  kind: 'user',
  id: 'alice',
  tenantId: 't1',
  organizationId: 'o1',
  email: 'alice@example.com',
  roles: ['member'],
  sessionId: 's1',
  authTime: 0,
  appId: null,
  clientId: null,
  impersonatedBy: null,
  issuedAt: 0,
  expiresAt: 9_999_999_999,
  ...more,
});
const agent = (via: 'token' | 'key'): AgentPrincipal => ({
  kind: 'agent',
  id: 'bot',
  tenantId: 't1',
  via,
  userId: via === 'token' ? 'alice' : null,
  agentSessionId: null,
  keyId: via === 'key' ? 'k1' : null,
  appId: null,
});
const key = (...scopes: string[]): ApiKeyPrincipal => ({
  kind: 'api_key',
  id: 'key1',
  tenantId: 't1',
  scopes,
  environment: 'live',
  appId: null,
});

const machine = (roles: readonly string[], scopes: readonly string[]): ClientPrincipal => ({
  kind: 'client',
  id: 'ci',
  tenantId: 't1',
  roles,
  scopes,
  appId: 'ci',
  issuedAt: 0,
});

/** Principals by credential. */
export const callers: { readonly [credential: string]: Principal } = {
  member: user(),
  'signed-in': user({ authTime: Math.floor(Date.now() / 1_000) }),
  admin: user({ id: 'root', roles: ['member', 'admin'] }),
  foreign: user({ tenantId: 't2' }),
  'agent-token': agent('token'),
  'agk-key': agent('key'),
  'svc-read': key('fga:read'),
  'svc-none': key(),
  machine: machine([], []),
  'machine-role': machine(['admin'], []),
  'machine-other-role': machine(['member', 'owner'], ['users:write']),
  'machine-scope': machine([], ['users:write']),
  'machine-both': machine(['admin'], ['audit:read', 'users:write']),
};

const Text = Type.String({ minLength: 1, maxLength: 64 });
const Note = Type.Object({ text: Text, count: Type.Optional(Type.Integer({ minimum: 0 })) });
const Seen = Type.Object({ seen: Type.Unknown() });

/** Returns its input. */
const notes = {
  tag: 'Development',
  tenant: 'required',
  ok: Seen,
  summary: 'Shows what came in.',
} as const;

export const sample: readonly Endpoint[] = [
  endpoint(
    {
      ...notes,
      name: 'create_note',
      method: 'post',
      path: '/api/v1/notes',
      who: ['user', 'api_key:notes:write'],
      machine: 'never',
      access: { class: 'things', applicationScope: 'account' },
      body: Note,
      response: { status: 201 },
      repeat: 'by_key',
      consistency: { waitsFor: ['notes'] },
      refusals: { note_taken: 409 },
    },
    async ({ body, commandId, idempotency, tenantId }) => {
      if (body.text === 'taken')
        return { refused: 'note_taken', target: { type: 'note', id: 'n1' } };
      if (body.text === 'crash') throw new Error('secret-in-message');
      if (body.text === 'away') {
        throw Object.assign(new Error('x'), { name: 'EventStoreUnavailable' });
      }
      return { ok: { seen: { ...body, commandId, idempotency, tenantId } }, wrote: 7n };
    },
  ),
  endpoint(
    {
      ...notes,
      name: 'list_notes',
      method: 'get',
      path: '/api/v1/notes',
      who: ['admin', 'agent_token', 'api_key:fga:read'],
      machine: 'any',
      access: { class: 'things', applicationScope: 'account' },
      query: Type.Object({
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 50 })),
        open: Type.Optional(Type.Boolean()),
        q: Type.Optional(Type.String()),
      }),
      consistency: { reads: ['notes'] },
      refusals: {},
    },
    async ({ query, ip, appId }) => ({ ok: { seen: { query, ip, appId } } }),
  ),
  endpoint(
    {
      ...notes,
      name: 'approve_note',
      method: 'post',
      path: '/api/v1/notes/{id}/approve',
      who: ['user'],
      access: { class: 'things', applicationScope: 'account' },
      params: Type.Object({ id: Type.String() }),
      body: Type.Object({ code: Type.Optional(Type.String()) }),
      input: { isOptional: true },
      notTaken: { agent: { status: 401, code: 'user_session_required' } },
      refusals: { note_gone: 410, step_up_required: 401 },
    },
    async ({ params, body }) => {
      if (params.id === 'gone') return { refused: 'note_gone' };
      if (params.id === 'stale') {
        return {
          refused: 'step_up_required',
          headers: { 'WWW-Authenticate': 'Bearer error="insufficient_user_authentication"' },
        };
      }
      return { ok: { seen: { params, body } } };
    },
  ),
  endpoint(
    {
      ...notes,
      name: 'own_notes',
      method: 'get',
      path: '/api/v1/me/notes',
      tenant: 'optional',
      who: ['user'],
      access: { class: 'things', applicationScope: 'account' },
      notTaken: { agent: { status: 401, code: 'user_session_required' } },
      refusals: {},
    },
    async ({ tenantId }) => ({ ok: { seen: tenantId } }),
  ),
  endpoint(
    {
      ...notes,
      name: 'note_template',
      method: 'get',
      path: '/api/v1/notes/template',
      who: ['user'],
      access: { class: 'things', applicationScope: 'account' },
      refusals: {},
    },
    async () => ({ ok: { seen: 'template' } }),
  ),
  endpoint(
    {
      ...notes,
      name: 'issue_token',
      method: 'post',
      path: '/api/v1/tokens',
      who: 'anyone',
      response: { isSecret: true },
      refusals: {},
    },
    async () => ({ ok: { seen: 'token' } }),
  ),
  endpoint(
    {
      ...notes,
      name: 'vend_note',
      method: 'post',
      path: '/api/v1/vend/{id}',
      who: ['agent_key'],
      params: Type.Object({ id: Type.String() }),
      body: Type.Object({ fields: Type.Array(Type.String(), { minItems: 1 }) }),
      response: {
        errors: 'upper_case',
        codes: { unauthenticated: 'INVALID_AGENT_KEY', internal_error: 'INTERNAL' },
      },
      notTaken: { user: { status: 401, code: 'INVALID_AGENT_KEY' } },
      refusals: { INVALID_CAPABILITY_TOKEN: 401 },
    },
    {
      authorize: async ({ headers }) =>
        headers['x-service-token'] === 'cap'
          ? { authorized: { capability: 'cap' } }
          : { refused: 'INVALID_CAPABILITY_TOKEN' },
      handle: async ({ body }, { capability }) => ({ ok: { seen: { body, capability } } }),
    },
  ),
  endpoint(
    {
      ...notes,
      name: 'sign_up',
      method: 'post',
      path: '/api/v1/open',
      tenant: 'none',
      who: 'anyone',
      body: Note,
      refusals: {},
    },
    async ({ principal, tenantId }) => ({
      ok: { seen: { principal: principal ?? null, tenantId } },
    }),
  ),
];

/** Responds when the server drains or the client disconnects. `onWaiting` is called when it waits for that. */
export const poll = (onWaiting: () => void): Endpoint =>
  endpoint(
    {
      ...notes,
      name: 'poll_note',
      method: 'get',
      path: '/api/v1/poll',
      tenant: 'none',
      who: 'anyone',
      refusals: {},
    },
    ({ draining, signal }) =>
      new Promise((resolve) => {
        const answer = () => resolve({ ok: { seen: draining.aborted ? 'draining' : 'gone' } });
        draining.addEventListener('abort', answer);
        signal.addEventListener('abort', answer);
        onWaiting();
      }),
  );
