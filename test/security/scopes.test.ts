/** Tests that a scope allows what its description names, and that no chain of calls leads further. */
import { testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SERVICE_GRANT } from './agents-and-keys.ts';
import { type Fortress, fortress } from './fortress.ts';
import { harmTo, type Victims } from './harm.ts';
import { type Reached, reachOfKey } from './reach.ts';
import { expectStatus } from './users.ts';

const SECRET = 'the value that no scope names';
const SCOPES = [
  'fga:read',
  'fga:write',
  'model:read',
  'model:write',
  'users:read',
  'users:write',
  'agents:read',
  'agents:write',
  'vault:read',
  'vault:write',
  'vault:grant',
  'tokens:introspect',
] as const;

/** The first row that matches a call gives the words that the description must contain. */
const NAMED: readonly (readonly [RegExp, RegExp])[] = [
  [/^GET \/fga\/model$/, /^read the model/i],
  [/^PUT \/fga\/model$/, /replace the model/i],
  [/^POST \/fga\/model\/dry-run$/, /which checks another model would answer/i],
  [/^(GET|POST) \/fga\/(tuples|check|dry-run|filter|list-objects|list-users)/, /tuples/i],
  [/^DELETE \/fga\/tuples/, /delete relationship tuples/i],
  [/^GET \/admin\/users/, /^read the accounts/i],
  [/^POST \/admin\/users(\/import)?$/, /make accounts of members/i],
  [/^POST \/admin\/users\/\{id\}\/revoke-sessions$/, /end their sessions/i],
  [/^POST \/admin\/users\/\{id\}\/reset-password$/, /mail them a link/i],
  [/^PATCH \/admin\/users/, /change the name and picture .*disable, enable/i],
  [/^DELETE \/admin\/users\/\{id\}\/sessions/, /end their sessions/i],
  [/^DELETE \/admin\/users/, /delete them/i],
  [/^GET \/agents/, /^read the agents/i],
  [/^POST \/agents$/, /make agents/i],
  [/^PATCH \/agents/, /rename, suspend, resume/i],
  [/^DELETE \/agents\/\{id\}$/, /delete agents/i],
  [/^DELETE \/agents\/\{id\}\/keys/, /revoke their keys/i],
  [/^GET \/vault\//, /^read which services/i],
  [/^POST \/vault\/approval-policies\/evaluate$/, /^read which services/i],
  [/^\w+ \/vault\/services\/\{name\}\/secrets$/, /write secrets/i],
  [/^POST \/vault\/services\/\{name\}\/(promote|rollback)$/, /promote, roll back .*versions/i],
  [/^DELETE \/vault\/services\/\{name\}\/secrets\//, /destroy their versions/i],
  [/^\w+ \/vault\/services/, /register, change and delete services/i],
  [/^\w+ \/vault\/approval-policies/, /make, change and remove approval policies/i],
  [/^DELETE \/vault\/grants/, /revoke grants/i],
];
const HELD: { readonly [what: string]: RegExp } = {
  'the key': /./,
  'a member': /sign in as a person .*what any member may/i,
};

const database = testDatabase();
let world: Fortress;
let descriptions: { readonly [scope: string]: string };
beforeAll(async () => {
  world = await fortress({ databaseUrl: database.url });
  const { rest, a } = world;
  const admin = rest.as({ bearer: a.owner.access, tenant: a.tenantId });
  // With open registration anybody can become a member, with a key or without one.
  const settings = { registration: { mode: 'closed' } };
  expectStatus(await admin.patch(`/api/v1/admin/tenants/${a.tenantId}`, { settings }), 200);
  const { service_name: name } = SERVICE_GRANT;
  const service = { name, credential_type: 'static', fields: [{ name: 'api_key' }] };
  expectStatus(await admin.post('/api/v1/vault/services', service), 201);
  const fields = { api_key: SECRET };
  expectStatus(await admin.put(`/api/v1/vault/services/${name}/secrets`, { fields }), 200);
  const answer = await admin.get('/api/v1/api-keys/scopes');
  expectStatus(answer, 200);
  expect(answer.body.scopes.toSorted()).toEqual(SCOPES.toSorted());
  descriptions = answer.body.descriptions;
});
afterAll(async () => {
  await world?.stop();
});

beforeEach(() => world.signInAgain());

async function victims(): Promise<Victims> {
  const { rest, a, addUser } = world;
  const admin = rest.as({ bearer: a.owner.access, tenant: a.tenantId });
  const users = [
    await addUser(a.owner, ['admin']),
    await addUser(a.owner, ['owner', 'admin']),
    await addUser(a.owner, ['member']),
  ];
  const body = { name: `victim of ${users[0]?.userId}`.slice(0, 60), services: [SERVICE_GRANT] };
  const made = await admin.post('/api/v1/agents', body);
  expectStatus(made, 201);
  return { users, agentIds: [made.body.id] };
}

async function reach(...scopes: readonly string[]): Promise<Reached & { harm: readonly string[] }> {
  const { rest, a } = world;
  const admin = rest.as({ bearer: a.owner.access, tenant: a.tenantId });
  const made = await admin.post('/api/v1/api-keys', { name: scopes.join(), scopes });
  expectStatus(made, 201);
  const of = { victims: await victims(), secret: SECRET };
  const reached = await reachOfKey(world, made.body.key, of);
  return { ...reached, harm: await harmTo(world, of.victims) };
}

function unnamed(
  { calls, found: reached, harm }: Awaited<ReturnType<typeof reach>>,
  description: string,
) {
  const found: string[] = [...harm];
  for (const what of reached) if (HELD[what]?.test(description) !== true) found.push(what);
  for (const [title, by] of calls) {
    if (!by.has('the key')) continue;
    const path = title.replace('/api/v1', '');
    const name = NAMED.find(([form]) => form.test(path))?.[1];
    if (name?.test(description) !== true) found.push(path);
  }
  return found;
}

describe('S1 an API key', () => {
  it.each(SCOPES)('with %s alone reaches nothing that the scope does not name', async (scope) => {
    expect(unnamed(await reach(scope), descriptions[scope] ?? '')).toEqual([]);
  });

  it('with agents:write and vault:grant reaches the secrets, as vault:grant says', async () => {
    const { found: reached, harm } = await reach('agents:write', 'vault:grant');
    expect(reached).toContain('a secret');
    expect(reached).toContain('an agent with a capability');
    expect(harm).toEqual([]);
    expect(descriptions['vault:grant']).toMatch(/with agents:write.*read every secret/is);
  });
});
