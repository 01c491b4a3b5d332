/**
 * Tests that from each rank of the deployment's own tenant, no chain of allowed calls leads to a credential or a power
 * above it.
 */
import { BOOTSTRAP_TENANT_ID } from '@cardea/contracts';
import { testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rankOf } from '../../services/identity/src/ranks/ranks.ts';
import { SERVICE_GRANT } from './agents-and-keys.ts';
import { type Fortress, fortress } from './fortress.ts';
import { harmTo, type Victims } from './harm.ts';
import { reachOf, USER_KINDS } from './reach.ts';
import { expectStatus, PASSWORD } from './users.ts';
import { ATTACKER } from './worth-trying.ts';

const OWNER = ['owner', 'admin'];
const ROOT = ['system_admin', ...OWNER];
const FOUNDER = { tenantId: BOOTSTRAP_TENANT_ID, email: 'root@example.com' };
const USED = 'https://ours.example/callback';
const APPLICATIONS = '/api/v1/admin/applications';
const INVITATIONS = '/api/v1/admin/invitations';
/** Kinds that are not searched from here: `scopes.test.ts` searches from keys and agents with any scope. */
const KNOWN = [
  ...['a member', 'an administrator', 'another key'],
  ...['an agent key', 'an agent', 'an agent with a capability'],
  'a machine',
];
const RANKS = [
  { rank: 'member', roles: ['member'], above: [['admin'], OWNER, ROOT], known: [] },
  { rank: 'admin', roles: ['admin'], above: [OWNER, ROOT], known: KNOWN },
  {
    rank: 'owner',
    roles: OWNER,
    above: [ROOT],
    known: [...KNOWN, 'an owner', 'a machine with rights'],
  },
] as const;

const database = testDatabase();
let world: Fortress;
beforeAll(async () => {
  const env = { ADMIN_EMAIL: FOUNDER.email, ADMIN_PASSWORD: PASSWORD };
  world = await fortress({ databaseUrl: database.url, env, founder: FOUNDER });
  const { rest, a } = world;
  const as = rest.as({ bearer: a.owner.access, tenant: a.tenantId });
  // With open registration anybody can become a member, whatever their rank is.
  const settings = { registration: { mode: 'invited' } };
  expectStatus(await as.patch(`/api/v1/admin/tenants/${a.tenantId}`, { settings }), 200);
});
afterAll(async () => {
  await world?.stop();
});
beforeEach(() => world.signInAgain());

const owner = () => world.rest.as({ bearer: world.a.owner.access, tenant: world.a.tenantId });

/** Objects that belong to higher ranks: their accounts, an invitation, an application that acts for them. */
async function targets(above: readonly (readonly string[])[]) {
  const { a, addUser, newEmail } = world;
  const users = [];
  for (const roles of above) users.push(await addUser(a.owner, roles));
  const email = newEmail();
  const invited = await owner().post(INVITATIONS, { email, roles: above.at(-1) });
  expectStatus(invited, 201);
  const application = await owner().post(APPLICATIONS, {
    ...{ name: 'Ours', type: 'web', redirect_uris: [USED], first_party: true },
  });
  expectStatus(application, 201);
  const agent = await owner().post('/api/v1/agents', {
    ...{ name: `target of ${users[0]?.userId}`.slice(0, 60), services: [SERVICE_GRANT] },
  });
  expectStatus(agent, 201);
  const victims: Victims = {
    users,
    agentIds: [agent.body.id],
    ids: {
      [INVITATIONS]: [invited.body.id],
      [APPLICATIONS]: [application.body.id],
      '/api/v1/admin/tenants': [a.tenantId],
    },
    emails: [email],
  };
  return { victims, invitation: invited.body, application: application.body };
}

describe('P1 S1 somebody', () => {
  it.each(RANKS)(
    'P1 S1 of rank $rank comes to nothing that is above it',
    async ({ rank, roles, above, known }) => {
      const { a, addUser } = world;
      const { victims, invitation, application } = await targets(above);
      const caller = await addUser(a.owner, roles);
      const own = rankOf(roles);
      const start = {
        bearer: caller.access,
        what: 'the caller',
        known,
        above: [
          ...USER_KINDS.slice(own + 1),
          'somebody else',
          'an application that acts for people',
          'the settings of the tenant',
          // An owner gives a machine no more than an owner has.
          ...(rank === 'owner' ? [] : ['a machine with rights']),
        ],
      };
      const { calls, found } = await reachOf(world, start, { victims, secret: 'in no answer' });
      expect([...found].filter((what) => start.above.includes(what))).toEqual([]);
      expect(await harmTo(world, victims)).toEqual([]);
      const pending = (await owner().get(INVITATIONS, { query: { limit: '1000' } })).body
        .invitations;
      expect(pending).toContainEqual(invitation);
      const { body } = await owner().get(`${APPLICATIONS}/${application.id}`);
      expect(body).toMatchObject({ redirect_uris: [USED], first_party: true });
      const tenant = await owner().get(`/api/v1/admin/tenants/${a.tenantId}`);
      expect(tenant.body.settings.app_url).not.toBe(ATTACKER);
      // The search did something: the calls that the rank is for were among those that succeeded.
      expect(calls.size).toBeGreaterThan(rank === 'member' ? 10 : 60);
    },
  );
});
