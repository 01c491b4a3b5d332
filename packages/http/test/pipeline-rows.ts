/** The calls that are accepted or refused. Each rule of `docs/architecture.md`, Order of the checks, has a row. */
import type { Call } from './http-fixture.ts';

export type Row = {
  readonly name: string;
  readonly method?: string;
  readonly path?: string;
  readonly call: Call;
  readonly status: number;
  readonly code?: string;
};

export const note = { text: 'hello' };

export const whoRows: readonly Row[] = [
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
];
