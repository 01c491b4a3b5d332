/** Who vouches for users, who may register themselves, and what an API key may not do. */
import { untilTrue } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { userField } from '../src/streams/encrypted-fields.ts';
import { identityOfFile, PASSWORD } from './identity-fixture.ts';

const { fixture, admin: ann } = identityOfFile({ RATE_LIMIT_FACTOR: '10000' });

const admin = () => fixture.as(ann);
const pathOf = (id: string) => `/api/v1/admin/users/${id}`;
const shown = async (id: string) => (await admin().get(pathOf(id))).body;
let count = 0;
const newEmail = () => {
  count += 1;
  return `somebody.${count}@example.com`;
};
async function keyWith(...scopes: readonly string[]) {
  const made = await admin().post('/api/v1/api-keys', { name: 'key', scopes });
  expect(made.status).toBe(201);
  return fixture.rest.as({ bearer: made.body.key, tenant: ann.tenantId });
}
async function addUser(roles: readonly string[] = ['member']) {
  const made = await admin().post('/api/v1/admin/users', { email: newEmail(), roles });
  expect(made.status).toBe(201);
  return made.body.id as string;
}

describe('a person', () => {
  it('is vouched for by whoever began the workspace or made them as an administrator, not by coming', async () => {
    expect(await shown(ann.userId)).toMatchObject({ vouched: true });
    expect(await shown(await addUser())).toMatchObject({ vouched: true });
    const bob = await fixture.register(ann.tenantId);
    expect(await shown(bob.userId)).toMatchObject({ vouched: false });
    const key = await keyWith('users:write');
    const made = await key.post('/api/v1/admin/users', { email: newEmail() });
    expect(made.body).toMatchObject({ vouched: false });
    const list = (await admin().get('/api/v1/admin/users')).body.users;
    expect(list.find(({ id }: { id: string }) => id === made.body.id).vouched).toBe(false);
  });

  it('is vouched for when an administrator says so, until one takes it back', async () => {
    const { userId } = await fixture.registerVerified(ann.tenantId);
    const say = async (vouched: boolean) => (await admin().patch(pathOf(userId), { vouched })).body;
    expect(await say(true)).toMatchObject({ id: userId, vouched: true });
    expect(await shown(userId)).toMatchObject({ vouched: true });
    expect(await say(false)).toMatchObject({ vouched: false });
    expect(await shown(userId)).toMatchObject({ vouched: false });
    const roles = await admin().patch(pathOf(userId), { roles: ['member', 'admin'] });
    expect(roles.body).toMatchObject({ vouched: true });
    const types = (await fixture.host.needsOf('identity').store.readStream(`user-${userId}`)).map(
      ({ type }) => type,
    );
    expect(types.filter((type) => /Vouch/.test(type))).toEqual([
      'UserVouched',
      'VouchWithdrawn',
      'UserVouched',
    ]);
  });

  it('of before is announced once as vouched for, however often the announcing begins', async () => {
    const byAdmin = await personOfBefore('admin');
    const byRole = await personOfBefore('register', 'admin');
    const byKey = await personOfBefore('register', 'system');
    const alone = await personOfBefore('register');
    for (const id of [byAdmin, byRole]) {
      await untilTrue(async () => (await shown(id)).vouched === true, { what: 'it is announced' });
    }
    const { store, database: tables } = fixture.host.needsOf('identity');
    const head = await store.head('identity');
    await tables.asSystem((sql) =>
      sql.query(
        `UPDATE identity.policy_checkpoints SET position = 0, epoch = epoch + 1
         WHERE name = 'announce_vouched'`,
      ),
    );
    // The running policy has another position. With the next event it restarts from the table's position.
    await fixture.register(ann.tenantId);
    await untilTrue(
      async () => {
        const { rows } = await tables.system.query<{ position: string }>(
          `SELECT position FROM identity.policy_checkpoints WHERE name = 'announce_vouched'`,
        );
        return BigInt(rows[0]?.position ?? 0) >= head;
      },
      { what: 'the log was read again' },
    );
    const said = async (id: string) =>
      (await store.readStream(`user-${id}`)).filter(({ type }) => type === 'UserVouched').length;
    expect(await Promise.all([byAdmin, byRole, byKey, alone].map(said))).toEqual([1, 1, 0, 0]);
    expect(await shown(alone)).toMatchObject({ vouched: false });
    expect((await shown(byAdmin)).updated_at).toBe((await shown(byAdmin)).created_at);
  });
});

describe('a tenant', () => {
  const tenant = () => admin().get(`/api/v1/admin/tenants/${ann.tenantId}`);
  const set = (settings: object) =>
    admin().patch(`/api/v1/admin/tenants/${ann.tenantId}`, { settings });
  const register = () =>
    fixture.rest.post(
      '/api/v1/auth/register',
      { email: newEmail(), password: PASSWORD },
      { tenant: ann.tenantId },
    );

  it('is open until its owner closes it, and says which it is', async () => {
    expect((await tenant()).body).toMatchObject({
      id: ann.tenantId,
      settings: { registration: { mode: 'open', uniform_response: null } },
    });
    for (const mode of ['invited', 'closed']) {
      expect((await set({ registration: { mode } })).status).toBe(200);
      expect((await tenant()).body.settings.registration.mode).toBe(mode);
      const refused = await register();
      expect([refused.status, refused.code]).toEqual([403, 'registration_closed']);
      await addUser();
    }
    expect((await set({ registration: { mode: 'open' } })).status).toBe(200);
    expect((await register()).status).toBe(201);
  });

  it('takes no setting that it does not know, and is shown to its own owners alone', async () => {
    for (const settings of [
      {},
      { registration: { mode: 'ajar' } },
      { registration: { mode: 'open', more: 1 } },
      { billing: true },
      { registration: { mode: 'open' }, billing: true },
    ]) {
      expect((await set(settings)).status).toBe(400);
    }
    const other = await fixture.signUp('eve');
    const path = `/api/v1/admin/tenants/${ann.tenantId}`;
    expect((await fixture.as(other).get(path)).status).toBe(404);
    const body = { settings: { registration: { mode: 'closed' } } };
    expect((await fixture.as(other).patch(path, body)).status).toBe(404);
    expect((await tenant()).body.settings.registration.mode).toBe('open');
  });
});

describe('an API key', () => {
  it('ranks as a member, whatever its scopes and whoever made it', async () => {
    const key = await keyWith('users:read', 'users:write');
    const [boss, bob] = [await addUser(['admin']), await addUser()];
    const refused = async (answer: Promise<{ status: number; code: string | undefined }>) => {
      const { status, code } = await answer;
      expect([status, code]).toEqual([403, 'forbidden']);
    };
    await refused(key.post('/api/v1/admin/users', { email: newEmail(), roles: ['admin'] }));
    for (const body of [{ roles: ['admin'] }, { roles: ['member', 'owner'] }, { vouched: true }]) {
      await refused(key.patch(pathOf(bob), body));
    }
    for (const body of [{ status: 'disabled' }, { display_name: 'x' }, { roles: ['member'] }]) {
      await refused(key.patch(pathOf(boss), body));
    }
    await refused(key.delete(pathOf(boss)));
    expect(await shown(boss)).toMatchObject({ status: 'active', roles: ['admin'] });
    expect((await key.patch(pathOf(bob), { status: 'disabled' })).status).toBe(200);
    expect((await key.delete(pathOf(bob))).status).toBe(200);
  });

  it('says what an agent reaches only with the scope for it', async () => {
    const agents = await keyWith('agents:read', 'agents:write');
    const both = await keyWith('agents:write', 'vault:grant');
    const services = [{ service_name: 'warehouse', fields: ['password'] }];
    const lacks = async (answer: Promise<{ status: number; body: unknown }>) => {
      expect(await answer).toMatchObject({
        status: 403,
        body: { error: { code: 'insufficient_scope', details: { scope: 'vault:grant' } } },
      });
    };
    await lacks(agents.post('/api/v1/agents', { name: 'reaching', services }));
    await lacks(agents.post('/api/v1/agents', { name: 'owned', owner_user_id: ann.userId }));
    const made = await agents.post('/api/v1/agents', { name: 'porter', services: [] });
    expect(made.status).toBe(201);
    const path = `/api/v1/agents/${made.body.id}`;
    await lacks(agents.post('/api/v1/agents', { name: 'asking', approvers: ['role:admin'] }));
    for (const body of [
      { services },
      { services: [] },
      { owner_user_id: null },
      { approvers: [] },
    ]) {
      await lacks(agents.patch(path, body));
    }
    await lacks(agents.post(`${path}/keys`, { name: 'own' }));
    expect((await agents.patch(path, { name: 'renamed' })).status).toBe(200);
    expect((await both.patch(path, { services })).body.services).toEqual(services);
    const key = await both.post(`${path}/keys`, { name: 'first' });
    expect(key.status).toBe(201);
    await lacks(agents.post(`${path}/keys/${key.body.id}/rotate`, {}));
    expect((await both.post(`${path}/keys/${key.body.id}/rotate`, {})).status).toBe(200);
    expect((await agents.delete(`${path}/keys/${key.body.id}`)).status).toBe(200);
  });
});

/** Records the user as an earlier release did, without `vouched`. */
async function personOfBefore(via: string, roleGivenBy?: 'admin' | 'system'): Promise<string> {
  const { store, sealer, ids, clock } = fixture.host.needsOf('identity');
  const { tenantId } = ann;
  const id = ids.next();
  const now = clock.now();
  const at = now.toISOString();
  const email = await sealer.seal(tenantId, userField(id, 'email'), newEmail());
  const event = (type: string, actor: string, data: object) => ({
    id: ids.next(),
    type,
    schemaVersion: 1,
    time: now,
    data: { id, ...data } as never,
    metadata: { tenantId, actor: { type: actor as 'admin', id: 'somebody' } },
  });
  const registered = event('UserRegistered', 'user', {
    ...{ email, email_hash: id, email_verified: false, display_name: null, avatar_url: null },
    ...{ roles: ['member'], via, request_hash: null, created_at: at },
  });
  const given =
    roleGivenBy === undefined
      ? []
      : [event('RolesChanged', roleGivenBy, { roles: ['member', 'billing'], at })];
  const streamId = `user-${id}`;
  await store.append([{ streamId, expected: 0, events: [registered, ...given] }]);
  return id;
}
