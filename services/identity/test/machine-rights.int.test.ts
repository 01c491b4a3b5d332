/**
 * Machines administer: their roles and scopes, who gives them, and that a withdrawal takes effect at once on every
 * replica.
 */
import { MACHINE_SCOPES, type MachineScope } from '@cardea/contracts';
import { describe, expect, it } from 'vitest';
import { type Account, claimsOf, PASSWORD } from './identity-fixture.ts';
import { application, type OAuthFixture, type TestClient, token } from './oauth-fixture.ts';
import { oauthReplicasOfFile } from './oauth-replicas-fixture.ts';

const replicas = oauthReplicasOfFile({ RATE_LIMIT_FACTOR: '100000' });
const APPLICATIONS = '/api/v1/admin/applications';
const WRITER = { roles: ['admin'], machine_scopes: ['applications:read', 'applications:write'] };

type Power = { readonly roles?: readonly string[]; readonly machine_scopes?: readonly string[] };
const made = (power: Power = {}, by: Account = replicas.admin): Promise<TestClient> =>
  application(replicas.one, by, { name: 'CI', type: 'm2m', redirect_uris: [], ...power });

const tokenOf = async (client: TestClient, more: object = {}) => {
  const { client_id, client_secret } = client;
  const form = { grant_type: 'client_credentials', client_id, client_secret, ...more };
  return (await token(replicas.one, form)).body;
};
const machine = async (power: Power) => {
  const client = await made(power);
  const access: string = (await tokenOf(client)).access_token;
  return { client, access };
};
const asMachine = ({ rest }: OAuthFixture, bearer: string) =>
  rest.as({ bearer, tenant: replicas.admin.tenantId });

let added = 0;
async function person(roles: readonly string[]): Promise<Account> {
  added += 1;
  const { tenantId } = replicas.admin;
  const email = `person.${added}@example.com`;
  const fields = { email, password: PASSWORD, roles };
  const { body } = await replicas.one.as(replicas.admin).post('/api/v1/admin/users', fields);
  const { body: entered } = await replicas.one.logIn({ tenantId, email });
  const { access_token: access, refresh_token: refresh } = entered;
  return { tenantId, userId: body.id, email, access, refresh };
}

describe('the token of a machine', () => {
  it('standards 1 has its roles, and those scopes that it asked for: all that it may, if none', async () => {
    const client = await made(WRITER);
    const all = await tokenOf(client);
    const scope = WRITER.machine_scopes.join(' ');
    expect(all).toMatchObject({ scope, expires_in: 900 });
    expect(claimsOf(all.access_token)).toMatchObject({
      ...{ sub: client.client_id, client_id: client.client_id, roles: ['admin'], scope },
    });
    const some = await tokenOf(client, { scope: 'applications:read users:write openid' });
    expect([some.error, claimsOf(some.access_token).scope]).toEqual([
      undefined,
      'applications:read',
    ]);
    const none = await tokenOf(client, { scope: 'users:write' });
    expect(claimsOf(none.access_token).scope).toBe('');
  });

  it('standards 1 holds nothing of scopes that its application may ask of other resources', async () => {
    const client = await made({ scopes: ['openid', 'roles', 'users:write'] } as Power);
    const { access_token } = await tokenOf(client, { scope: 'roles users:write' });
    expect(claimsOf(access_token)).toMatchObject({ roles: [], scope: '' });
  });

  it('standards 1 calls by scope and role, and is told which scope it lacks', async () => {
    const { access } = await machine({ roles: ['admin'], machine_scopes: ['applications:read'] });
    const as = asMachine(replicas.other, access);
    expect((await as.get(APPLICATIONS)).status).toBe(200);
    const refused = await as.post(APPLICATIONS, { name: 'Shop', type: 'spa' });
    expect([refused.status, refused.code]).toEqual([403, 'insufficient_scope']);
    expect(refused.body.error.details).toEqual({ scope: 'applications:write' });
    const roleless = await machine({ machine_scopes: ['applications:read', 'users:read'] });
    const other = asMachine(replicas.other, roleless.access);
    expect((await other.get(APPLICATIONS)).code).toBe('forbidden');
    expect((await other.get('/api/v1/admin/users')).status).toBe(200);
  });

  it('standards 1 asks what tokens are worth, of its own tenant, with the scope for it', async () => {
    const asking = await machine({ machine_scopes: ['tokens:introspect'] });
    const other = await machine({ machine_scopes: ['users:read'] });
    const stranger = await replicas.one.signUp();
    const ask = (bearer: string, text: string) =>
      replicas.other.rest.post('/oauth2/introspect', { token: text }, { bearer });
    expect((await ask(asking.access, replicas.bob.access)).body.active).toBe(true);
    expect((await ask(asking.access, stranger.access)).body).toEqual({ active: false });
    expect((await ask(other.access, replicas.bob.access)).status).toBe(403);
    // A person's token may never introspect, whatever its claims.
    expect((await ask(replicas.admin.access, replicas.bob.access)).status).toBe(401);
  });
});

describe('a machine that wants more', () => {
  it('standards 1 P1 raises neither itself nor another, and makes none that holds anything', async () => {
    const { client, access } = await machine({ ...WRITER, roles: ['admin', 'owner'] });
    const other = await made({ machine_scopes: ['users:read'] });
    const acting = await application(replicas.one, replicas.admin, { first_party: true });
    const as = asMachine(replicas.one, access);
    const raised = { roles: ['admin', 'owner'], machine_scopes: [...MACHINE_SCOPES] };
    const fields = { name: 'mine', type: 'm2m' };
    const refused = [
      await as.post(APPLICATIONS, { ...fields, ...raised }),
      await as.post(APPLICATIONS, { ...fields, machine_scopes: ['users:read'] }),
      await as.post(APPLICATIONS, { name: 'mine', type: 'web', first_party: true }),
    ];
    for (const { id } of [client, other, acting]) {
      refused.push(
        await as.patch(`${APPLICATIONS}/${id}`, { name: 'mine' }),
        await as.post(`${APPLICATIONS}/${id}/rotate-secret`),
        await as.post(`${APPLICATIONS}/${id}/rotate-publishable-key`),
        await as.delete(`${APPLICATIONS}/${id}`),
      );
    }
    refused.push(await as.patch(`${APPLICATIONS}/${client.id}`, raised));
    expect(refused.map(({ status, code }) => `${status} ${code}`)).toEqual(
      refused.map(() => '403 forbidden'),
    );
    // A machine without roles and scopes stays an ordinary application.
    const plain = await as.post(APPLICATIONS, fields);
    expect([plain.status, plain.body.machine_scopes]).toEqual([201, []]);
    expect((await as.patch(`${APPLICATIONS}/${plain.body.id}`, raised)).code).toBe('forbidden');
    expect((await as.patch(`${APPLICATIONS}/${plain.body.id}`, { name: 'm' })).status).toBe(200);
  });

  it('standards 1 gets it from an owner alone; an administrator takes it', async () => {
    const admin = await person(['admin']);
    const client = await made(WRITER);
    const as = replicas.one.as(admin);
    const refused = await as.post(APPLICATIONS, { name: 'CI', type: 'm2m', ...WRITER });
    expect([refused.status, refused.code]).toEqual([403, 'forbidden']);
    const path = `${APPLICATIONS}/${client.id}`;
    expect((await as.patch(path, { roles: ['admin', 'owner'] })).code).toBe('forbidden');
    expect((await as.post(`${path}/rotate-secret`)).code).toBe('forbidden');
    const taken = await as.patch(path, { roles: [], machine_scopes: ['applications:read'] });
    expect(taken.body).toMatchObject({ roles: [], machine_scopes: ['applications:read'] });
    const unknown = { roles: ['system_admin'] };
    expect((await replicas.one.as(replicas.admin).patch(path, unknown)).code).toBe('unknown_role');
    const spa = await application(replicas.one, replicas.admin);
    const given = await replicas.one
      .as(replicas.admin)
      .patch(`${APPLICATIONS}/${spa.id}`, { machine_scopes: ['users:read'] });
    expect([given.status, given.body.error.details]).toEqual([
      400,
      [{ field: 'machine_scopes', rule: 'm2m_only' }],
    ]);
  });

  it('standards 1 P1 P9 gets it only where its owner has signed in lately', async () => {
    const late = { ...replicas.admin };
    replicas.one.clock.move(11 * 60_000);
    const refused = await replicas.one.as(late).post(APPLICATIONS, {
      ...{ name: 'CI', type: 'm2m', ...WRITER },
    });
    replicas.one.clock.move(-11 * 60_000);
    expect(refused.status).toBe(401);
  });

  it('standards 1 reads and changes the settings of its own tenant alone, with the role owner', async () => {
    const scopes: readonly MachineScope[] = ['settings:read', 'settings:write'];
    const { access } = await machine({ roles: ['owner'], machine_scopes: scopes });
    const { tenantId } = replicas.admin;
    const second = await replicas.one
      .as(replicas.admin)
      .post('/api/v1/admin/tenants', { name: 'Second' });
    expect(second.status).toBe(201);
    const as = asMachine(replicas.one, access);
    const path = (id: string) => `/api/v1/admin/tenants/${id}`;
    const settings = { settings: { language: 'de' } };
    expect((await as.get(path(tenantId))).status).toBe(200);
    expect((await as.patch(path(tenantId), settings)).status).toBe(200);
    expect((await as.get(path(second.body.id))).status).toBe(404);
    expect((await as.patch(path(second.body.id), settings)).status).toBe(404);
    expect((await as.delete(path(second.body.id))).status).toBe(403);
    const admin = await machine({ roles: ['admin'], machine_scopes: scopes });
    expect((await asMachine(replicas.one, admin.access).get(path(tenantId))).status).toBe(403);
  });

  it('standards 1 says of each scope what it leads to', async () => {
    const { body } = await replicas.one.as(replicas.admin).get('/api/v1/admin/scopes');
    expect(body.scopes).toEqual([...MACHINE_SCOPES]);
    expect(Object.keys(body.descriptions)).toEqual([...MACHINE_SCOPES]);
  });
});

describe('what was taken from a machine', () => {
  const list = (fixture: OAuthFixture, access: string) =>
    asMachine(fixture, access).get(APPLICATIONS);
  const ENDS: readonly (readonly [string, (path: string) => Promise<{ status: number }>])[] = [
    ['a role', (path) => replicas.one.as(replicas.admin).patch(path, { roles: [] })],
    [
      'a scope',
      (path) =>
        replicas.one.as(replicas.admin).patch(path, { machine_scopes: ['applications:read'] }),
    ],
    ['its secret', (path) => replicas.one.as(replicas.admin).post(`${path}/rotate-secret`)],
    ['all of it', (path) => replicas.one.as(replicas.admin).delete(path)],
  ];

  it.each(ENDS)(
    'standards 2 ends its tokens on both replicas when that is answered: %s',
    async (_what, end) => {
      const { client, access } = await machine(WRITER);
      for (const fixture of [replicas.one, replicas.other]) {
        expect((await list(fixture, access)).status).toBe(200);
      }
      expect((await end(`${APPLICATIONS}/${client.id}`)).status).toBe(200);
      for (const fixture of [replicas.one, replicas.other]) {
        expect((await list(fixture, access)).status).toBe(401);
        const asked = await fixture.rest.post('/oauth2/introspect', { token: access });
        expect(asked.body).toEqual({ active: false });
      }
    },
  );

  it('standards 2 stays ended when the cache has lost it, and the next token counts at once', async () => {
    const { client, access } = await machine(WRITER);
    const path = `${APPLICATIONS}/${client.id}`;
    await replicas.one.as(replicas.admin).patch(path, { machine_scopes: ['applications:read'] });
    const mark = { kind: 'rank', id: client.client_id, at: claimsOf(access).iat } as const;
    const { ended } = replicas.other.host.needsOf('identity').peers.identity;
    expect(await ended({ marks: [mark] })).toEqual({ ended: [true] });
    const next = (await tokenOf(client)).access_token;
    for (const fixture of [replicas.one, replicas.other]) {
      expect((await list(fixture, next)).status).toBe(200);
      expect((await list(fixture, access)).status).toBe(401);
    }
  });

  it('standards 2 keeps the tokens of a machine that got more, or whose old secret counts on', async () => {
    const { client, access } = await machine(WRITER);
    const path = `${APPLICATIONS}/${client.id}`;
    const as = replicas.one.as(replicas.admin);
    await as.patch(path, { machine_scopes: [...WRITER.machine_scopes, 'users:read'] });
    await as.post(`${path}/rotate-secret`, { grace_seconds: 60 });
    for (const fixture of [replicas.one, replicas.other]) {
      expect((await list(fixture, access)).status).toBe(200);
    }
  });

  it('standards 2 is used by no writer once that is answered', async () => {
    const { client, access } = await machine(WRITER);
    const path = `${APPLICATIONS}/${client.id}`;
    const write = (fixture: OAuthFixture) =>
      asMachine(fixture, access).post(APPLICATIONS, { name: 'Shop', type: 'spa' });
    const during = Array.from({ length: 10 }, () => write(replicas.other));
    const taken = await replicas.one.as(replicas.admin).patch(path, { roles: [] });
    expect(taken.status).toBe(200);
    const after = await Promise.all([write(replicas.one), write(replicas.other)]);
    expect(after.map(({ status }) => status)).toEqual([401, 401]);
    for (const { status } of await Promise.all(during)) expect([201, 401, 403]).toContain(status);
  });
});
