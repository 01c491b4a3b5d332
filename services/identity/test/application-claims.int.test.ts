/** The claims that an administrator defines for an application: who gets them, where, and with whose consent. */
import { decodeJwt } from 'jose';
import { beforeEach, describe, expect, it } from 'vitest';
import { allow, DEVICE_GRANT, poll, requestDevice } from './device-fixture.ts';
import { type Account, claimsOf } from './identity-fixture.ts';
import {
  application,
  authorized,
  browser,
  oauthCalls,
  oauthOfFile,
  signIn,
  type TestClient,
  token,
} from './oauth-fixture.ts';

const { fixture, admin } = oauthOfFile();
const { refresh, authorize } = oauthCalls(() => fixture);
const APPLICATIONS = '/api/v1/admin/applications';
const CANARY = 'canary-c1a1m';
const EVERYWHERE = ['id_token', 'userinfo', 'access_token'];
const CLAIMS = [
  { name: 'plan', from: 'public_metadata.plan.tier', in: EVERYWHERE },
  { name: 'https://example.com/crm', from: 'private_metadata.crm', in: EVERYWHERE },
  { name: 'groups', from: 'roles', in: EVERYWHERE },
  { name: 'workspace', from: 'tenant.slug', in: EVERYWHERE },
  { name: 'lang', from: 'locale', in: EVERYWHERE },
];
let bob: Account;
beforeEach(async () => {
  bob = await fixture.register(admin.tenantId);
  await metadata({
    locale: 'de-AT',
    public_metadata: { plan: { tier: 'gold' } },
    private_metadata: { crm: CANARY },
  });
});

const metadata = async (change: object) => {
  const done = await fixture.as(admin).patch(`/api/v1/admin/users/${bob.userId}`, change);
  expect(done, done.text).toMatchObject({ status: 200 });
};
const changed = async ({ id }: TestClient, change: object) => {
  const done = await fixture.as(admin).patch(`${APPLICATIONS}/${id}`, change);
  expect(done, done.text).toMatchObject({ status: 200 });
};
const userinfo = async (bearer: string) =>
  (await fixture.rest.get('/oauth2/userinfo', { bearer })).body;
const expected = async () => {
  const { body } = await fixture.as(admin).get(`/api/v1/admin/tenants`);
  return {
    ...{ plan: 'gold', 'https://example.com/crm': CANARY, groups: ['member'], lang: 'de-AT' },
    workspace: body.tenants.find(({ id }: { id: string }) => id === admin.tenantId)?.slug,
  };
};
const namesOf = (claims: object) => {
  const names = CLAIMS.map(({ name }) => name);
  return names.filter((name) => Object.hasOwn(claims, name)).toSorted();
};
const pathOf = (location: string) => new URL(location, fixture.issuer).pathname;
const consentView = async (client: TestClient, more: { [name: string]: string } = {}) => {
  const page = browser(fixture);
  const { location } = await page.get(authorize(client, more));
  const path = pathOf(location);
  const done = await page.post(`${path}/login`, {
    email: bob.email,
    password: 'correct horse battery',
  });
  const next = await page.get(done.body.redirect_to);
  return { page, path: pathOf(next.location) };
};

describe('standards 8 claims of an application', () => {
  it('are the same by code, refresh and device in the id_token, and equal userinfo', async () => {
    const all = await expected();
    const client = await application(fixture, admin, {
      ...{ type: 'native', claims: CLAIMS, name: 'Terminal' },
      grant_types: ['authorization_code', 'refresh_token', DEVICE_GRANT],
    });
    const first = await authorized(fixture, { client, account: bob });
    expect(decodeJwt(first.id_token)).toMatchObject(all);
    expect(await userinfo(first.access_token)).toMatchObject(all);
    // A token for Cardea's own API contains none of them.
    expect(namesOf(claimsOf(first.access_token))).toEqual([]);
    const again = await refresh(client, first.refresh_token);
    expect(decodeJwt(again.body.id_token)).toMatchObject(all);
    const asked = await requestDevice(fixture, client, 'openid profile');
    await allow(browser(fixture), { user_code: asked.user_code, account: bob });
    const byDevice = (await poll(fixture, client, asked)).body;
    expect(decodeJwt(byDevice.id_token)).toMatchObject(all);
    expect(await userinfo(byDevice.access_token)).toMatchObject(all);
  });

  it('stand in access tokens of a resource server, by code and refresh, and only there', async () => {
    const resource = 'https://claims.example';
    const server = {
      ...{ identifier: resource, name: 'Files' },
      scopes: [{ name: 'read', description: 'Read' }],
    };
    const made = await fixture.as(admin).post('/api/v1/admin/resource-servers', server);
    expect(made).toMatchObject({ status: 201 });
    const scopes = ['openid', 'profile', 'email', 'offline_access', 'read'];
    const claims = [
      { name: 'plan', from: 'public_metadata.plan.tier', in: ['access_token'] },
      { name: 'lang', from: 'locale', scope: 'read', in: ['access_token'] },
      { name: 'groups', from: 'roles', in: ['userinfo'] },
    ];
    const client = await application(fixture, admin, { scopes, claims });
    const more = { resource, scope: 'openid profile read' };
    const done = await authorized(fixture, { client, account: bob, more });
    const both = { plan: 'gold', lang: 'de-AT' };
    expect(claimsOf(done.access_token)).toMatchObject({ aud: resource, ...both });
    expect(namesOf(claimsOf(done.access_token))).toEqual(['lang', 'plan']);
    expect(namesOf(decodeJwt(done.id_token))).toEqual([]);
    const again = await refresh(client, done.refresh_token);
    expect(claimsOf(again.body.access_token)).toMatchObject(both);
    await metadata({ public_metadata: { plan: null }, locale: null });
    const later = await refresh(client, again.body.refresh_token);
    expect(namesOf(claimsOf(later.body.access_token))).toEqual([]);
  });

  it('are told of a third party by consent alone, which is asked again for each new one', async () => {
    const client = await application(fixture, admin);
    const first = await authorized(fixture, { client, account: bob });
    await changed(client, { claims: [CLAIMS[0]] });
    // A consent to the scope does not include the new claim.
    expect(namesOf(await userinfo(first.access_token))).toEqual([]);
    const silent = async () =>
      (await first.page.get(authorize(client, { prompt: 'none' }))).location;
    expect(await silent()).toContain('error=consent_required');
    const second = await authorized(fixture, { client, account: bob, page: first.page });
    expect(namesOf(decodeJwt(second.id_token))).toEqual(['plan']);
    const { body } = await fixture.as(bob).get('/api/v1/auth/consents');
    expect(body.consents).toMatchObject([{ client_id: client.client_id, claims: ['plan'] }]);
    expect(await silent()).toContain('code=');
    // A consent does not cover a new meaning of the same claim name.
    await changed(client, { claims: [{ ...CLAIMS[0], from: 'private_metadata.crm' }] });
    expect(namesOf(await userinfo(second.access_token))).toEqual([]);
    const refreshed = await refresh(client, second.refresh_token);
    expect(namesOf(decodeJwt(refreshed.body.id_token))).toEqual([]);
    expect(await silent()).toContain('error=consent_required');
    await changed(client, { claims: [] });
    expect(await silent()).toContain('code=');
  });

  it('go with the scope that a person leaves out, and the flow ends', async () => {
    const claims = [
      { name: 'plan', from: 'public_metadata.plan.tier' },
      { name: 'lang', from: 'locale', scope: 'openid' },
    ];
    const client = await application(fixture, admin, { claims });
    const of = { client, account: bob, scopes: ['email'] };
    const done = await authorized(fixture, of);
    expect(namesOf(decodeJwt(done.id_token))).toEqual(['lang']);
    const both = await authorized(fixture, { client, account: bob, page: done.page });
    expect(namesOf(decodeJwt(both.id_token))).toEqual(['lang', 'plan']);
  });

  it('of the own applications of a tenant are asked of nobody', async () => {
    const client = await application(fixture, admin, { first_party: true, claims: CLAIMS });
    const done = await authorized(fixture, { client, account: bob });
    expect(decodeJwt(done.id_token)).toMatchObject(await expected());
    await changed(client, { claims: [CLAIMS[4]] });
    expect(namesOf(await userinfo(done.access_token))).toEqual(['lang']);
  });

  it.each([
    ['en', 'It would also be told:', 'keeps about you as “crm” and does not show you'],
    ['de', 'Sie würde auch erfahren:', 'als „crm“ über Sie gespeichert hat und Ihnen nicht zeigt'],
  ])('are named on the page of the consent, in %s', async (language, title, text) => {
    const client = await application(fixture, admin, { claims: CLAIMS });
    const { page, path } = await consentView(client);
    const shown = await page.get(path, { 'accept-language': language });
    expect(shown.text).toContain(title);
    expect(shown.text).toContain(text);
    for (const { name } of CLAIMS) expect(shown.text).toContain(`${name}: `);
    expect(shown.text).not.toContain(CANARY);
    const { body } = await page.get(path, { accept: 'application/json' });
    expect(body.claims).toEqual(CLAIMS.map(({ name, from }) => ({ name, from, scope: 'profile' })));
  });

  it('that were not on the page are not allowed by it', async () => {
    const client = await application(fixture, admin, { claims: [CLAIMS[0]] });
    const { page, path } = await consentView(client);
    await changed(client, { claims: [CLAIMS[0], CLAIMS[1]] });
    // The change voids the open flow. Nothing of it was allowed, and the consent page is shown again.
    const done = await page.post(`${path}/consent`);
    expect([done.status, done.body.error]).toEqual([404, 'interaction_not_found']);
    const back = await page.get(authorize(client));
    expect(back.location).toContain('/oauth2/interaction/');
    const next = await page.get(pathOf(back.location), { accept: 'application/json' });
    expect(next.body.claims.map(({ name }: { name: string }) => name)).toEqual([
      ...[CLAIMS[0]?.name, CLAIMS[1]?.name],
    ]);
  });

  it('have 2 KiB together, and one that does not fit says so', async () => {
    const claims = ['a', 'b', 'c'].map((name) => ({ name, from: `public_metadata.${name}` }));
    await metadata({ public_metadata: { a: 'x'.repeat(2_040), b: 'y'.repeat(100), c: 'z' } });
    const client = await application(fixture, admin, { claims });
    const done = await authorized(fixture, { client, account: bob });
    const kept = { a_overage: true, b: 'y'.repeat(100), c: 'z' };
    expect(decodeJwt(done.id_token)).toMatchObject(kept);
    expect(await userinfo(done.access_token)).toMatchObject(kept);
    expect(decodeJwt(done.id_token)).not.toHaveProperty('a');
  });
});

describe('standards 8 an administrator', () => {
  it('sets, lists and clears claims, with what was left out filled in', async () => {
    const client = await application(fixture, admin, {
      claims: [{ name: 'plan', from: 'public_metadata.plan' }],
    });
    const whole = [
      {
        ...{ name: 'plan', from: 'public_metadata.plan' },
        ...{ scope: 'profile', in: ['id_token', 'userinfo'] },
      },
    ];
    const { body } = await fixture.as(admin).get(`${APPLICATIONS}/${client.id}`);
    expect(body.claims).toEqual(whole);
    const { body: list } = await fixture.as(admin).get(APPLICATIONS);
    expect(list.applications.find(({ id }: TestClient) => id === client.id).claims).toEqual(whole);
    await changed(client, { claims: [] });
    expect((await fixture.as(admin).get(`${APPLICATIONS}/${client.id}`)).body.claims).toEqual([]);
  });

  it.each([
    [{ name: 'sub', from: 'locale' }, 'claims.0.name', 'reserved_name'],
    [{ name: 'Roles', from: 'roles' }, 'claims.0.name', 'reserved_name'],
    [{ name: 'teams', from: 'groups' }, 'claims.0.from', 'groups_unavailable'],
    [{ name: 'id', from: 'email' }, 'claims.0.from', 'unknown_source'],
    [{ name: 'id', from: 'locale', scope: 'account' }, 'claims.0.scope', 'enum'],
    [{ name: 'id', from: 'locale', in: [] }, 'claims.0.in', 'min_items'],
    [{ name: 'id', from: 'locale', in: ['logout_token'] }, 'claims.0.in.0', 'enum'],
  ])('is refused %j', async (claim, field, rule) => {
    const fields = { name: 'Shop', type: 'spa', claims: [claim] };
    const answer = await fixture.as(admin).post(APPLICATIONS, fields);
    expect(`${answer.status} ${answer.code}`).toBe('400 invalid_request');
    expect(answer.body.error.details).toEqual([expect.objectContaining({ field, rule })]);
    const client = await application(fixture, admin);
    const change = await fixture
      .as(admin)
      .patch(`${APPLICATIONS}/${client.id}`, { claims: [claim] });
    expect(change.body.error.details).toEqual([expect.objectContaining({ field, rule })]);
  });

  it('has 20 at most', async () => {
    const claims = Array.from({ length: 21 }, (_, at) => ({ name: `c${at}`, from: 'locale' }));
    const fields = { name: 'Shop', type: 'spa' };
    const { status } = await fixture.as(admin).post(APPLICATIONS, { ...fields, claims });
    expect(status).toBe(400);
    await application(fixture, admin, { claims: claims.slice(1) });
  });

  it('cannot take a scope away that a claim goes with', async () => {
    const client = await application(fixture, admin, { claims: [CLAIMS[0]] });
    const change = { scopes: ['openid'] };
    const answer = await fixture.as(admin).patch(`${APPLICATIONS}/${client.id}`, change);
    expect(answer.body.error.details).toEqual([
      { field: 'claims.0.scope', rule: 'enum', allowed: ['openid'] },
    ]);
  });

  it('P1 below the owner cannot let an application read private_metadata, nor lead one elsewhere', async () => {
    const email = `lower.${bob.userId}@example.com`;
    const fields = { email, password: 'correct horse battery', roles: ['admin'] };
    await fixture.as(admin).post('/api/v1/admin/users', fields);
    const { tenantId } = admin;
    const { body } = await fixture.logIn({ tenantId, email });
    const lower = fixture.as({ access: body.access_token, tenantId });
    const shop = { name: 'Shop', type: 'spa' };
    const plain = await lower.post(APPLICATIONS, { ...shop, claims: [CLAIMS[0]] });
    expect(plain.status).toBe(201);
    const reading = await application(fixture, admin, { claims: [CLAIMS[1]] });
    const refused = [
      await lower.post(APPLICATIONS, { ...shop, claims: [CLAIMS[1]] }),
      await lower.patch(`${APPLICATIONS}/${plain.body.id}`, { claims: [CLAIMS[1]] }),
      await lower.patch(`${APPLICATIONS}/${reading.id}`, { redirect_uris: [] }),
      await lower.delete(`${APPLICATIONS}/${reading.id}`),
    ];
    const machine = await application(fixture, admin, {
      ...{ type: 'm2m', redirect_uris: [], roles: ['admin', 'owner'] },
      machine_scopes: ['applications:write'],
    });
    const { client_id, client_secret } = machine;
    const form = { grant_type: 'client_credentials', client_id, client_secret };
    const { body: got } = await token(fixture, form);
    const asMachine = fixture.as({ access: got.access_token, tenantId });
    refused.push(
      await asMachine.post(APPLICATIONS, { ...shop, claims: [CLAIMS[1]] }),
      await asMachine.patch(`${APPLICATIONS}/${plain.body.id}`, { claims: [CLAIMS[1]] }),
      await asMachine.patch(`${APPLICATIONS}/${reading.id}`, { redirect_uris: [] }),
    );
    expect(refused.map(({ status, code }) => `${status} ${code}`)).toEqual(
      refused.map(() => '403 forbidden'),
    );
  });
});

describe('standards 8 what a claim says', () => {
  it('is in no event, topic or log in clear', async () => {
    const client = await application(fixture, admin, { claims: CLAIMS });
    const done = await authorized(fixture, { client, account: bob });
    expect(JSON.stringify(await userinfo(done.access_token))).toContain(CANARY);
    const events = JSON.stringify(await fixture.eventsSince(0n), (_, value) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    expect(events).toContain('private_metadata.crm');
    expect(events).not.toContain(CANARY);
    expect(fixture.lines.join('')).not.toContain(CANARY);
    const back = await signIn(done.page, authorize(client), { account: bob });
    expect(back.href).not.toContain(CANARY);
  });
});
