import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Call, type Rig, startRig } from './rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());

const note = { text: 'hello' };

type Row = {
  readonly name: string;
  readonly method?: string;
  readonly path?: string;
  readonly call: Call;
  readonly status: number;
  readonly code?: string;
};

const rows: readonly Row[] = [
  { name: 'a member with the right tenant', call: { as: 'member', json: note }, status: 201 },
  { name: 'nobody', call: { json: note }, status: 401, code: 'unauthenticated' },
  {
    name: 'a forged credential',
    call: { as: 'forged', json: note },
    status: 401,
    code: 'unauthenticated',
  },
  {
    name: 'nobody, with a bad body too',
    call: { tenant: null, body: '{' },
    status: 401,
    code: 'unauthenticated',
  },
  {
    name: 'no tenant',
    call: { as: 'member', tenant: null, json: note },
    status: 400,
    code: 'tenant_required',
  },
  {
    name: 'an empty tenant',
    call: { as: 'member', tenant: '', json: note },
    status: 400,
    code: 'tenant_required',
  },
  {
    name: 'two tenants',
    call: { as: 'member', tenant: 't1, t1', json: note },
    status: 400,
    code: 'tenant_required',
  },
  {
    name: 'a foreign tenant',
    call: { as: 'foreign', json: note },
    status: 403,
    code: 'tenant_mismatch',
  },
  {
    name: 'a key without the scope',
    call: { as: 'svc-none', json: note },
    status: 403,
    code: 'insufficient_scope',
  },
  {
    name: 'an agent where none is taken',
    call: { as: 'agent-token', json: note },
    status: 403,
    code: 'forbidden',
  },
  {
    name: "an agent on a user's own path",
    method: 'GET',
    path: '/api/v1/me/notes',
    call: { as: 'agent-token', tenant: 'zzz' },
    status: 401,
    code: 'user_session_required',
  },
  {
    name: "a key on a user's own path",
    method: 'GET',
    path: '/api/v1/me/notes',
    call: { as: 'svc-read' },
    status: 403,
    code: 'forbidden',
  },
  {
    name: 'a member where admins are wanted',
    method: 'GET',
    call: { as: 'member' },
    status: 403,
    code: 'forbidden',
  },
  {
    name: "an agent's key where its token is taken",
    method: 'GET',
    call: { as: 'agk-key' },
    status: 403,
    code: 'forbidden',
  },
  {
    name: 'no right and a bad type',
    call: { as: 'svc-none', body: 'x' },
    status: 403,
    code: 'insufficient_scope',
  },
  {
    name: 'no media type',
    call: { as: 'member', body: Buffer.from('{"text":"x"}') },
    status: 415,
    code: 'unsupported_media_type',
  },
  {
    name: 'text',
    call: { as: 'member', body: '{"text":"x"}', headers: { 'content-type': 'text/plain' } },
    status: 415,
    code: 'unsupported_media_type',
  },
  {
    name: 'another charset',
    call: {
      as: 'member',
      body: '{"text":"x"}',
      headers: { 'content-type': 'application/json; charset=latin1' },
    },
    status: 415,
    code: 'unsupported_media_type',
  },
  {
    name: 'our charset',
    call: {
      as: 'member',
      body: '{"text":"x"}',
      headers: { 'content-type': 'application/json; charset="UTF-8"' },
    },
    status: 201,
  },
  {
    name: 'gzip',
    call: {
      as: 'member',
      body: 'x',
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    },
    status: 415,
    code: 'unsupported_media_type',
  },
  {
    name: 'a wrong type that is also too large',
    call: { as: 'member', body: 'x'.repeat(300_000), headers: { 'content-type': 'text/plain' } },
    status: 415,
    code: 'unsupported_media_type',
  },
  {
    name: 'a body over 256 KiB',
    call: { as: 'member', json: { text: 'x'.repeat(262_144) } },
    status: 413,
    code: 'body_too_large',
  },
  {
    name: 'no body',
    call: { as: 'member', headers: { 'content-type': 'application/json' } },
    status: 400,
    code: 'invalid_request',
  },
  {
    name: 'broken JSON',
    call: { as: 'member', body: '{"text":', headers: { 'content-type': 'application/json' } },
    status: 400,
    code: 'invalid_request',
  },
  {
    name: 'an unknown field',
    call: { as: 'member', json: { ...note, owner: 'x' } },
    status: 400,
    code: 'invalid_request',
  },
  {
    name: 'a wrong type of field',
    call: { as: 'member', json: { text: 5 } },
    status: 400,
    code: 'invalid_request',
  },
  {
    name: 'a missing field',
    call: { as: 'member', json: {} },
    status: 400,
    code: 'invalid_request',
  },
  { name: 'an array', call: { as: 'member', json: [] }, status: 400, code: 'invalid_request' },
  {
    name: 'a token that is none',
    call: { as: 'member', json: note, headers: { 'x-service-consistency': 'approval-x' } },
    status: 400,
    code: 'invalid_consistency_token',
  },
  {
    name: 'an idempotency key that is too long',
    call: { as: 'member', json: note, headers: { 'idempotency-key': 'x'.repeat(129) } },
    status: 400,
    code: 'invalid_request',
  },
  {
    name: 'an app id that is too long',
    call: { as: 'member', json: note, headers: { 'x-service-app-id': 'x'.repeat(129) } },
    status: 400,
    code: 'invalid_request',
  },
  {
    name: 'a limit in a query',
    method: 'GET',
    path: '/api/v1/notes?limit=5&open=true',
    call: { as: 'admin' },
    status: 200,
  },
  {
    name: 'a limit out of range',
    method: 'GET',
    path: '/api/v1/notes?limit=1001',
    call: { as: 'admin' },
    status: 400,
    code: 'invalid_request',
  },
  {
    name: 'a limit in hexadecimal',
    method: 'GET',
    path: '/api/v1/notes?limit=0x10',
    call: { as: 'admin' },
    status: 400,
    code: 'invalid_request',
  },
  {
    name: 'a repeated parameter',
    method: 'GET',
    path: '/api/v1/notes?limit=5&limit=6',
    call: { as: 'admin' },
    status: 400,
    code: 'invalid_request',
  },
  {
    name: 'an unknown parameter',
    method: 'GET',
    path: '/api/v1/notes?page=2',
    call: { as: 'admin' },
    status: 400,
    code: 'invalid_request',
  },
  {
    name: 'a parameter that does not decode',
    method: 'GET',
    path: '/api/v1/notes?q=%ff',
    call: { as: 'admin' },
    status: 400,
    code: 'invalid_request',
  },
  { name: 'a key with the scope', method: 'GET', call: { as: 'svc-read' }, status: 200 },
  {
    name: 'an optional body: none',
    path: '/api/v1/notes/n1/approve',
    call: { as: 'member' },
    status: 200,
  },
  {
    name: 'an optional body: empty',
    path: '/api/v1/notes/n1/approve',
    call: { as: 'member', body: '', headers: { 'content-type': 'text/plain' } },
    status: 200,
  },
  {
    name: 'an optional body: {} without a type',
    path: '/api/v1/notes/n1/approve',
    call: { as: 'member', body: Buffer.from('{}') },
    status: 200,
  },
  {
    name: 'an optional body: {}',
    path: '/api/v1/notes/n1/approve',
    call: { as: 'member', json: {} },
    status: 200,
  },
  {
    name: 'an optional body with a stranger',
    path: '/api/v1/notes/n1/approve',
    call: { as: 'member', json: { x: 1 } },
    status: 400,
    code: 'invalid_request',
  },
  { name: 'an unknown path', path: '/api/v1/notesX', call: {}, status: 404, code: 'not_found' },
  { name: 'another case', path: '/api/v1/Notes', call: {}, status: 404, code: 'not_found' },
  { name: 'another method', method: 'PUT', call: {}, status: 405, code: 'method_not_allowed' },
  {
    name: 'a crash',
    call: { as: 'member', json: { text: 'crash' } },
    status: 500,
    code: 'internal_error',
  },
  {
    name: 'a store that is away',
    call: { as: 'member', json: { text: 'away' } },
    status: 503,
    code: 'temporarily_unavailable',
  },
  {
    name: 'a refusal of the handler',
    call: { as: 'member', json: { text: 'taken' } },
    status: 409,
    code: 'note_taken',
  },
  {
    name: 'vending without a key',
    path: '/api/v1/vend/s1',
    call: { json: {} },
    status: 401,
    code: 'INVALID_AGENT_KEY',
  },
  {
    name: 'vending as a user',
    path: '/api/v1/vend/s1',
    call: { as: 'member', tenant: null, json: {} },
    status: 401,
    code: 'INVALID_AGENT_KEY',
  },
  {
    name: 'vending without a tenant',
    path: '/api/v1/vend/s1',
    call: { as: 'agk-key', tenant: null },
    status: 400,
    code: 'TENANT_REQUIRED',
  },
  {
    name: 'vending without a capability and with a bad body',
    path: '/api/v1/vend/s1',
    call: { as: 'agk-key', body: 'x' },
    status: 401,
    code: 'INVALID_CAPABILITY_TOKEN',
  },
  {
    name: 'vending with a bad body',
    path: '/api/v1/vend/s1',
    call: { as: 'agk-key', json: {}, headers: { 'x-service-token': 'cap' } },
    status: 400,
    code: 'INVALID_REQUEST',
  },
];

describe('the door', () => {
  it.each(rows)('S6 answers $status $code to $name', async (row) => {
    const { method = 'POST', path = '/api/v1/notes', call, status, code } = row;
    const answer = await rig.call(method, path, call);
    expect({ status: answer.status, code: answer.body?.error?.code }).toEqual({ status, code });
    if (code !== undefined) {
      expect(answer.body.error.request_id).toBe(answer.headers.get('x-request-id'));
      expect(Object.keys(answer.body)).toEqual(['error']);
    }
  });
});
