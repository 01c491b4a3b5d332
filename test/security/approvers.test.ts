/** Tests who may approve an agent's request: nobody whom an agent could have registered. */
import { testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SERVICE_GRANT, startSession } from './agents-and-keys.ts';
import { type Fortress, fortress } from './fortress.ts';
import { mailedToken } from './samples/identity.ts';
import { expectStatus, PASSWORD, type Person } from './users.ts';

const START_MS_MAX = 240_000;
const VALUE = 'a value that a stranger wants';
const VAULT = '/api/v1/vault';
const REQUESTS = '/api/v1/ciba/requests';

const database = testDatabase();
let world: Fortress;
beforeAll(async () => {
  world = await fortress({ databaseUrl: database.url });
  const admin = adminOfA();
  const name = SERVICE_GRANT.service_name;
  const service = { name, credential_type: 'static', fields: [{ name: 'api_key' }] };
  expectStatus(await admin.post(`${VAULT}/services`, service), 201);
  const fields = { api_key: VALUE };
  expectStatus(await admin.put(`${VAULT}/services/${name}/secrets`, { fields }), 200);
}, START_MS_MAX);
afterAll(async () => {
  await world?.stop();
});

const adminOfA = () => world.rest.as({ bearer: world.a.owner.access, tenant: world.a.tenantId });

/** Runs the work with a policy for the one service, and removes the policy afterwards. */
async function withPolicy(more: object, work: () => Promise<void>): Promise<void> {
  const policy = {
    name: 'ask first',
    service_name: SERVICE_GRANT.service_name,
    fields: '*',
    agent_ids: '*',
    effect: 'require_approval',
    ...more,
  };
  const made = await adminOfA().post(`${VAULT}/approval-policies`, policy);
  expectStatus(made, 201);
  try {
    await work();
  } finally {
    await adminOfA().delete(`${VAULT}/approval-policies/${made.body.id}`);
  }
}

/** Anybody can register, because registration is open. */
async function register(): Promise<Person> {
  const { tenantId: tenant } = world.a;
  const email = world.newEmail();
  const body = { email, password: PASSWORD };
  expectStatus(await world.rest.post('/api/v1/auth/register', body, { tenant }), 201);
  return world.logIn({ tenantId: tenant, email });
}

/** Proves the address, because a vouch requires that. */
async function proven(person: Person): Promise<Person> {
  const token = await mailedToken(world, person.email, /confirm/i);
  const options = { bearer: person.access };
  expectStatus(await world.rest.post('/api/v1/auth/verify-email', { token }, options), 200);
  return person;
}

async function session(person: Person) {
  const { key } = world.a.agentsAndKeys.agent;
  const { sessionId, capability } = await startSession(world.rest, person, key);
  const vend = (more: object = {}) =>
    world.rest.post(
      `/api/v1/agent/sessions/${sessionId}/credentials`,
      { ...SERVICE_GRANT, ...more },
      { bearer: key, tenant: person.tenantId, headers: { 'x-service-token': capability } },
    );
  return { sessionId, vend };
}

const approve = ({ access: bearer, tenantId: tenant }: Person, id: string, body: object = {}) =>
  world.rest.post(`${REQUESTS}/${id}/approve`, body, { bearer, tenant });

/** Plays what the holder of an agent key does with a user whom they registered. Returns the secret if they got it. */
async function chain(person: Person): Promise<{ refused?: unknown; secret?: string }> {
  const { vend } = await session(person);
  const asked = await vend();
  if (asked.status !== 202)
    return { refused: [asked.status, asked.code, asked.body.error.details] };
  const { approval_id, binding_message } = asked.body.data;
  const [binding_code] = /\d{4}$/.exec(binding_message) ?? [];
  const approved = await approve(person, approval_id, { binding_code });
  expectStatus(approved, 200);
  const granted = await vend({ approval_id });
  return granted.status === 200 ? { secret: granted.body.data.fields.api_key } : {};
}

const NOT_VOUCHED = { refused: [403, 'NO_APPROVER', { reason: 'approver_not_vouched' }] };

describe('S12 an agent that is its own human', () => {
  it.each([
    ['as it is', {}],
    [
      'with a code to compare and a fresh sign-in',
      { number_match: true, max_auth_age_seconds: 300 },
    ],
  ])(
    'S12 gets no secret by registering a person and approving in their name, %s',
    async (_how, more) => {
      const person = await register();
      await withPolicy(more, async () => {
        expect(await chain(person)).toEqual(NOT_VOUCHED);
      });
      await withPolicy({ ...more, approver: { user_id: person.userId } }, async () => {
        expect(await chain(person)).toEqual(NOT_VOUCHED);
      });
    },
  );

  it('S12 gets it by a person for whom an administrator vouches, and for no longer than they do', async () => {
    const person = await proven(await register());
    const { rest } = world;
    const vouch = async (vouched: boolean) => {
      const path = `/api/v1/admin/users/${person.userId}`;
      const changed = await adminOfA().patch(path, { vouched });
      expectStatus(changed, 200);
      expect(changed.body.vouched).toBe(vouched);
    };
    await withPolicy({}, async () => {
      await vouch(true);
      expect(await chain(person)).toEqual({ secret: VALUE });
      const { vend } = await session(person);
      const { approval_id } = (await vend()).body.data;
      await vouch(false);
      const refused = await approve(person, approval_id);
      expect([refused.status, refused.code]).toEqual([403, 'approver_not_vouched']);
      const { access: bearer, tenantId: tenant } = person;
      const shown = await rest.get(`${REQUESTS}/${approval_id}`, { bearer, tenant });
      expect(shown.body).toMatchObject({ status: 'pending', origin: 'vend', user_vouched: false });
      await vouch(true);
      expectStatus(await approve(person, approval_id), 200);
      await vouch(false);
      expect((await vend({ approval_id })).code).toBe('NO_APPROVER');
      await vouch(true);
      expectStatus(await vend({ approval_id }), 200);
      await vouch(false);
      expect((await vend()).code).toBe('NO_APPROVER');
    });
  });

  it('S12 gets it by its owner where a policy asks the owner, whoever stands behind the session', async () => {
    const { id } = world.a.agentsAndKeys.agent;
    const stranger = await register();
    const owns = async (owner_user_id: string | null) =>
      expectStatus(await adminOfA().patch(`/api/v1/agents/${id}`, { owner_user_id }), 200);
    try {
      await withPolicy({ approver: 'agent_owner' }, async () => {
        await owns(stranger.userId);
        expect(await chain(stranger)).toEqual(NOT_VOUCHED);
        await owns(world.a.member.userId);
        const { vend } = await session(stranger);
        const asked = await vend();
        expectStatus(asked, 202);
        const { approval_id } = asked.body.data;
        expect((await approve(stranger, approval_id)).code).toBe('request_not_found');
        expectStatus(await approve(world.a.member, approval_id), 200);
        expect((await vend({ approval_id })).body.data.fields.api_key).toBe(VALUE);
      });
    } finally {
      await owns(null);
    }
  });
});

const TUPLES = '/api/v1/fga/tuples';
const SET = { relation: 'editor', object_type: 'team', object_id: 'payments' };
const held = (userId: string) => ({ user_type: 'user', user_id: userId, ...SET });
/** Gives people the relation while the work runs. */
async function holding(people: readonly string[], work: () => Promise<void>): Promise<void> {
  for (const id of people) expectStatus(await adminOfA().post(TUPLES, held(id)), 201);
  try {
    await work();
  } finally {
    for (const id of people) await adminOfA().delete(TUPLES, { body: held(id) });
  }
}
const leave = async (id: string) =>
  expectStatus(await adminOfA().delete(TUPLES, { body: held(id) }), 200);
const vouchFor = async ({ userId }: Person) =>
  expectStatus(await adminOfA().patch(`/api/v1/admin/users/${userId}`, { vouched: true }), 200);

describe('a policy that asks a set', () => {
  it('approval 25 releases a secret while the person who approved still holds the relation', async () => {
    const { member, owner } = world.a;
    await withPolicy({ approver: SET }, async () => {
      const { vend } = await session(member);
      const nobody = await vend();
      expect([nobody.code, nobody.body.error.details]).toEqual([
        'NO_APPROVER',
        { reason: 'nobody_holds' },
      ]);
      await holding([member.userId, owner.userId], async () => {
        const { approval_id } = (await vend()).body.data;
        expectStatus(await approve(owner, approval_id), 200);
        await leave(owner.userId);
        const lost = await vend({ approval_id });
        expect([lost.code, lost.body.error.details]).toEqual([
          'NO_APPROVER',
          { reason: 'approver_lost' },
        ]);
        expectStatus(await adminOfA().post(TUPLES, held(owner.userId)), 201);
        const granted = await vend({ approval_id });
        expect(granted.body.data.fields.api_key).toBe(VALUE);
      });
    });
  });

  it('approval 26 takes two of them, and not the one for whom the agent acts', async () => {
    const { member, owner } = world.a;
    const third = await proven(await register());
    await vouchFor(third);
    const two = { approver: SET, approvals_needed: 2, exclude_session_user: true };
    await withPolicy(two, async () => {
      const { vend } = await session(member);
      await holding([member.userId, owner.userId, third.userId], async () => {
        const { approval_id } = (await vend()).body.data;
        expect((await approve(member, approval_id)).code).toBe('approver_excluded');
        expectStatus(await approve(owner, approval_id), 202);
        expectStatus(await vend({ approval_id }), 202);
        expectStatus(await approve(third, approval_id), 200);
        const granted = await vend({ approval_id });
        expect(granted.body.data.fields.api_key).toBe(VALUE);
      });
    });
  });

  it('approval 25 is not opened to a stranger by a key that may write tuples', async () => {
    const stranger = await register();
    const scopes = ['fga:write'];
    const made = await adminOfA().post('/api/v1/api-keys', { name: 'tuples', scopes });
    expectStatus(made, 201);
    const key = world.rest.as({ bearer: made.body.key, tenant: world.a.tenantId });
    await withPolicy({ approver: SET }, async () => {
      const { vend } = await session(stranger);
      // The holder of the key names an account that nobody vouches for.
      expectStatus(await key.post(TUPLES, held(stranger.userId)), 201);
      expect((await vend()).body.error.details).toEqual({ reason: 'nobody_holds' });
      await holding([world.a.owner.userId], async () => {
        const { approval_id } = (await vend()).body.data;
        expect((await approve(stranger, approval_id)).code).toBe('approver_not_vouched');
      });
      // Roles are not stored as tuples.
      const role = { relation: 'member', object_type: 'role', object_id: 'owner' };
      const named = { user_type: 'user', user_id: stranger.userId, ...role };
      expectStatus(await key.post(TUPLES, named), 201);
    });
    await withPolicy({ approver: { role: 'owner' } }, async () => {
      const { vend } = await session(stranger);
      const { approval_id } = (await vend()).body.data;
      expect((await approve(stranger, approval_id)).code).toBe('request_not_found');
      expectStatus(await approve(world.a.owner, approval_id), 200);
    });
  });
});
