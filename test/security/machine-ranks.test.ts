/**
 * Tests that from a machine of each role with every scope, no chain of allowed calls leads to a credential above it: it
 * raises neither itself nor another. It belongs to the deployment's own tenant, where an attacker can gain the most.
 */
import { BOOTSTRAP_TENANT_ID, MACHINE_SCOPES } from '@cardea/contracts';
import { testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SERVICE_GRANT } from './agents-and-keys.ts';
import { type Fortress, fortress } from './fortress.ts';
import { harmTo, type Victims } from './harm.ts';
import { reachOf, USER_KINDS } from './reach.ts';
import { expectStatus, PASSWORD } from './users.ts';

const OWNER = ['owner', 'admin'];
const FOUNDER = { tenantId: BOOTSTRAP_TENANT_ID, email: 'root@example.com' };
const APPLICATIONS = '/api/v1/admin/applications';
const TENANTS = '/api/v1/admin/tenants';
const DECIDES_SIGN_IN = /^(settings|providers):/;
const SCOPES = MACHINE_SCOPES.filter((scope) => !DECIDES_SIGN_IN.test(scope));
/** The machine may create agents with agents:write and vault:grant, as the descriptions of the scopes say. */
const NAMED = [
  ...['the machine', 'a machine', 'a member', 'a secret'],
  ...['an agent key', 'an agent', 'an agent with a capability'],
];

const database = testDatabase();
let world: Fortress;
beforeAll(async () => {
  const env = { ADMIN_EMAIL: FOUNDER.email, ADMIN_PASSWORD: PASSWORD };
  world = await fortress({ databaseUrl: database.url, env, founder: FOUNDER });
  const settings = { registration: { mode: 'invited' } };
  expectStatus(await owner().patch(`${TENANTS}/${world.a.tenantId}`, { settings }), 200);
});
afterAll(async () => {
  await world?.stop();
});
beforeEach(() => world.signInAgain());

const owner = () => world.rest.as({ bearer: world.a.owner.access, tenant: world.a.tenantId });

async function machineWith(roles: readonly string[], machine_scopes: readonly string[]) {
  const fields = { name: 'CI', type: 'm2m', roles, machine_scopes };
  const made = await owner().post(APPLICATIONS, fields);
  expectStatus(made, 201);
  const { client_id, client_secret } = made.body;
  const form = { grant_type: 'client_credentials', client_id, client_secret };
  const body = new URLSearchParams(form);
  const answer = await fetch(`${world.baseUrl}/oauth2/token`, { method: 'POST', body });
  const { access_token: bearer } = (await answer.json()) as { readonly access_token: string };
  return { bearer, application: (await owner().get(`${APPLICATIONS}/${client_id}`)).body };
}

/** People of every rank, and applications with rights or secrets. */
async function targets(machine: { readonly id: string }) {
  const { a, addUser } = world;
  const users = [];
  for (const roles of [['admin'], OWNER, ['system_admin', ...OWNER]]) {
    users.push(await addUser(a.owner, roles));
  }
  const stronger = await machineWith(OWNER, SCOPES);
  const acting = await owner().post(APPLICATIONS, {
    ...{ name: 'Ours', type: 'web', redirect_uris: ['https://ours.example/'], first_party: true },
  });
  expectStatus(acting, 201);
  const agent = await owner().post('/api/v1/agents', {
    ...{ name: `target of ${users[0]?.userId}`.slice(0, 60), services: [SERVICE_GRANT] },
  });
  expectStatus(agent, 201);
  const protectedIds = [machine.id, stronger.application.id, acting.body.id] as readonly string[];
  const victims: Victims = {
    users,
    agentIds: [agent.body.id],
    ids: { [APPLICATIONS]: protectedIds, [TENANTS]: [a.tenantId, world.b.tenantId] },
  };
  return { victims, protectedIds };
}

describe('standards 1 S1 a machine', () => {
  it.each([
    ['no role', []],
    ['the role admin', ['admin']],
    ['the roles of an owner', OWNER],
  ])('standards 1 S1 with %s and every scope comes to nothing above it', async (_what, roles) => {
    const { bearer, application } = await machineWith(roles, SCOPES);
    const { victims, protectedIds } = await targets(application);
    const read = (id: string) => owner().get(`${APPLICATIONS}/${id}`);
    const before = await Promise.all(protectedIds.map(async (id) => (await read(id)).body));
    const start = {
      bearer,
      what: 'the machine',
      known: ['a member', 'a machine', 'an agent key', 'an agent', 'an agent with a capability'],
      above: [
        ...USER_KINDS.slice(1),
        ...['somebody else', 'another key', 'a machine with rights'],
        ...['an application that acts for people', 'the settings of the tenant'],
      ],
    };
    const { calls, found } = await reachOf(world, start, { victims, secret: 'in no answer' });
    expect([...found].filter((what) => !NAMED.includes(what))).toEqual([]);
    const after = await Promise.all(protectedIds.map(async (id) => (await read(id)).body));
    expect(after).toEqual(before);
    const harm = await harmTo(world, victims);
    // A machine with roles has the rank that its owner gave it, and administers users who rank no higher.
    expect(roles.length === 0 ? harm : harm.filter((each) => !ADMINISTERED.has(each))).toEqual([]);
    expect(calls.size).toBeGreaterThan(roles.length === 0 ? 30 : 50);
  });

  it.each(MACHINE_SCOPES.filter((scope) => DECIDES_SIGN_IN.test(scope)))(
    "standards 1 holds no %s in the deployment's own tenant",
    async (scope) => {
      const fields = { name: 'CI', type: 'm2m', roles: OWNER, machine_scopes: [scope] };
      const refused = await owner().post(APPLICATIONS, fields);
      expect([refused.status, refused.code]).toEqual([400, 'invalid_scope']);
    },
  );
});

const ADMINISTERED: ReadonlySet<string> = new Set(['closed or deleted an administrator']);
