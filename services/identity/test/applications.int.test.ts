import { describe, expect, it } from 'vitest';
import { identityOfFile } from './identity-fixture.ts';

const { fixture, admin } = identityOfFile({ RATE_LIMIT_FACTOR: '1000' });

const PATH = '/api/v1/admin/applications';
const create = async (body: object) => {
  const answer = await fixture.as(admin).post(PATH, { name: 'Shop', type: 'web', ...body });
  expect(answer.status).toBe(201);
  return answer.body;
};
const identify = async (publishable_key: string) =>
  (await fixture.rest.post('/api/v1/auth/identify', { publishable_key })).status;

describe('applications', () => {
  it('are registered with the defaults of their type, changed, listed and deleted', async () => {
    const rest = fixture.as(admin);
    const made = await create({ redirect_uris: ['https://shop.example/callback'] });
    expect(made).toMatchObject({
      client_id: made.id,
      grant_types: ['authorization_code', 'refresh_token'],
      scopes: ['openid', 'profile', 'email', 'offline_access'],
      first_party: false,
    });
    expect(made.client_secret).toMatch(/^cs_[0-9A-Za-z]{43}$/);
    const changed = await rest.patch(`${PATH}/${made.id}`, { first_party: true });
    expect(changed.body.first_party).toBe(true);
    const { client_secret: _secret, ...shown } = made;
    const now = { ...shown, first_party: true };
    expect((await rest.get(`${PATH}/${made.id}`)).body).toEqual(now);
    expect((await rest.get(PATH)).body.applications).toContainEqual(now);
    expect((await rest.delete(`${PATH}/${made.id}`)).status).toBe(200);
    expect((await rest.get(`${PATH}/${made.id}`)).status).toBe(404);
    expect((await rest.patch(`${PATH}/${made.id}`, { name: 'x' })).status).toBe(404);
    const { body } = await rest.get(PATH);
    expect(body.applications.map(({ id }: { id: string }) => id)).not.toContain(made.id);
  });

  it('show no secret where they can keep none', async () => {
    const made = await create({ type: 'spa' });
    expect(made.client_secret).toBeUndefined();
    const answer = await fixture.as(admin).post(`${PATH}/${made.id}/rotate-secret`);
    expect(answer.code).toBe('no_client_secret');
  });

  it.each([
    [{ redirect_uris: ['https://*.example.com'] }, 'invalid_redirect_uri'],
    [{ scopes: ['account'] }, 'invalid_scope'],
    [{ type: 'm2m', first_party: true, scopes: ['account'] }, 'invalid_scope'],
    [{ allowed_origins: ['null'] }, 'invalid_request'],
    [{ type: 'm2m', grant_types: ['authorization_code'] }, 'invalid_request'],
    [{ jwks: [{ kty: 'OKP', crv: 'Ed25519', x: 'x', d: 'd' }] }, 'invalid_request'],
  ])('refuse %j as %s', async (fields, code) => {
    const body = { name: 'Shop', type: 'web', ...fields };
    expect(await fixture.as(admin).post(PATH, body)).toMatchObject({ status: 400, code });
  });

  it("are another tenant's as little as they are nobody's", async () => {
    const other = await fixture.signUp('eve');
    const { id } = await create({});
    expect((await fixture.as(other).get(`${PATH}/${id}`)).status).toBe(404);
    expect((await fixture.as(other).delete(`${PATH}/${id}`)).status).toBe(404);
  });

  it('oauth 22 take the publishable key before a rotation for its grace, and not longer', async () => {
    const rest = fixture.as(admin);
    const { id, publishable_key: first } = await create({ type: 'spa' });
    const path = `${PATH}/${id}/rotate-publishable-key`;
    const { body: second } = await rest.post(path, { grace_seconds: 60 });
    expect([await identify(first), await identify(second.publishable_key)]).toEqual([200, 200]);
    fixture.clock.move(61_000);
    expect([await identify(first), await identify(second.publishable_key)]).toEqual([401, 200]);
    const { body: third } = await rest.post(path);
    expect(await identify(second.publishable_key)).toBe(401);
    expect(await identify(third.publishable_key)).toBe(200);
  });

  it('oauth 22 leave only hashes of their secrets in events', async () => {
    const before = await fixture.head();
    const made = await create({});
    const answer = await fixture.as(admin).post(`${PATH}/${made.id}/rotate-secret`);
    const events = JSON.stringify(await fixture.eventsSince(before), (_, value) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    for (const secret of [made.client_secret, answer.body.client_secret]) {
      expect(secret).toMatch(/^cs_/);
      expect(events).not.toContain(secret);
      expect(events).not.toContain(secret.slice(3));
    }
  });

  it('are registered once under an Idempotency-Key, and show their secret once', async () => {
    const { tenantId: tenant, access: bearer } = admin;
    const headers = { 'Idempotency-Key': 'application-1' };
    const body = { name: 'Once', type: 'web' };
    const first = await fixture.rest.post(PATH, body, { bearer, tenant, headers });
    const again = await fixture.rest.post(PATH, body, { bearer, tenant, headers });
    expect([first.status, again.status]).toEqual([201, 409]);
    expect(again.body.error.details).toEqual({ id: first.body.id });
  });
});

describe('resource servers', () => {
  const path = '/api/v1/admin/resource-servers';
  const orders = (identifier: string) => ({ identifier, name: 'Orders' });

  it('are one tenant to one identifier, until they are deleted', async () => {
    const rest = fixture.as(admin);
    const other = fixture.as(await fixture.signUp('eve'));
    const identifier = 'https://orders.example.com';
    const scopes = [{ name: 'orders:read', description: 'Read orders' }];
    const made = await rest.post(path, { ...orders(identifier), scopes });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ identifier, scopes, token_ttl_seconds: 900 });
    expect((await rest.get(path)).body.resource_servers).toContainEqual(made.body);
    expect((await other.post(path, orders(identifier))).code).toBe('identifier_taken');
    expect((await rest.post(path, orders(identifier))).code).toBe('identifier_taken');
    expect((await other.delete(`${path}/${made.body.id}`)).status).toBe(404);
    expect((await rest.delete(`${path}/${made.body.id}`)).status).toBe(200);
    expect((await other.post(path, orders(identifier))).status).toBe(201);
  });

  it.each([
    [{ identifier: 'https://a.example#b' }, 'invalid_request'],
    [{ identifier: 'ftp://a.example' }, 'invalid_request'],
    [{ scopes: [{ name: 'openid', description: '' }] }, 'invalid_scope'],
    [{ token_ttl_seconds: 59 }, 'invalid_request'],
    [{ token_ttl_seconds: 3601 }, 'invalid_request'],
  ])('refuse %j as %s', async (fields, code) => {
    const body = { ...orders('https://refused.example'), ...fields };
    expect((await fixture.as(admin).post(path, body)).code).toBe(code);
  });

  it('lie outside of the issuer', async () => {
    const answer = await fixture.as(admin).post(path, orders('http://cardea.test/api'));
    expect(answer.code).toBe('invalid_request');
  });
});
