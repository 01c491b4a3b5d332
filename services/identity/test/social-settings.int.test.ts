/** The settings for a tenant's sign-ins by providers. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Account, identityOfFile } from './identity-fixture.ts';
import { knownAt, newPerson, PAGE, type SocialFixture, socialFixture } from './social-fixture.ts';

const { fixture } = identityOfFile({ RATE_LIMIT_FACTOR: '10000' });
let social: SocialFixture;
let ann: Account;
beforeAll(async () => {
  social = await socialFixture(fixture);
});
afterAll(async () => {
  await social?.stop();
});
beforeEach(async () => {
  ann = await fixture.signUp();
  await social.setUp(ann);
});

describe('the settings of a provider', () => {
  const identified = async () => {
    const { body } = await fixture.as(ann).get('/api/v1/admin/applications');
    const { publishable_key } = body.applications[0];
    const answer = await fixture.rest.post('/api/v1/auth/identify', { publishable_key });
    const { google, github, microsoft } = answer.body.auth_methods;
    return { google, github, microsoft };
  };
  const set = (settings: object) =>
    fixture.as(ann).patch(`/api/v1/admin/tenants/${ann.tenantId}`, { settings });
  const authorized = async (query: { readonly [name: string]: string }) => {
    const answer = await social.authorize('google', query);
    const body = answer.status === 302 ? undefined : await answer.json();
    return `${answer.status} ${(body as { error: { code: string } } | undefined)?.error.code}`;
  };

  it('are told to clients as they are: set up, and allowed', async () => {
    expect(await identified()).toEqual({ google: true, github: true, microsoft: true });
    await set({ auth_methods: ['password', 'google'] });
    expect(await identified()).toEqual({ google: true, github: false, microsoft: false });
    await set({ social: { google: null }, auth_methods: ['password', 'google', 'github'] });
    expect(await identified()).toEqual({ google: false, github: true, microsoft: false });
    await set({ social: { google: { client_id: 'without-a-secret' } } });
    expect(await identified()).toMatchObject({ google: false });
  });

  it('show no secret, and keep it until another is set', async () => {
    const changed = await set({ social: { google: { client_id: 'renamed' } } });
    expect(changed.body.settings.social.google).toEqual({
      ...{ client_id: 'renamed', endpoint: null, has_secret: true },
    });
    const me = await fixture.as(ann).get('/api/v1/auth/me');
    for (const { text } of [changed, me]) expect(text).not.toContain('canary-client-secret');
    const log = JSON.stringify(await fixture.eventsSince(0n), (_, value) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    expect(log).not.toContain('canary-client-secret');
    expect(fixture.lines.join('\n')).not.toContain('canary-client-secret');
  });

  it('name the pages that a browser may be sent to, byte for byte', async () => {
    const tenant_id = ann.tenantId;
    expect(await authorized({ tenant_id, redirect_uri: PAGE })).toBe('302 undefined');
    for (const redirect_uri of [`${PAGE}/`, `${PAGE}?a=1`, 'https://APP.example/signed-in', '']) {
      expect(await authorized({ tenant_id, redirect_uri })).toBe('400 invalid_redirect_uri');
    }
    expect(await authorized({ tenant_id: 'nobody' })).toBe('404 tenant_not_found');
    await set({ social: { google: null } });
    expect(await authorized({ tenant_id })).toBe('404 provider_not_configured');
  });

  it.each([
    { allowed_redirect_uris: ['http://app.example/'] },
    { allowed_redirect_uris: ['https://app.example/#x'] },
    { social: { google: { client_id: '' } } },
    { social: { google: { client_id: 'a', client_secret: 'line\nbreak' } } },
    { social: { google: { client_id: 'a', endpoint: 'https://a:b@issuer.example' } } },
    { social: { microsoft: { client_id: 'a', tenants: [] } } },
    { social: { microsoft: { client_id: 'a', tenants: ['common'] } } },
    { social: { facebook: { client_id: 'a' } } },
  ])('are refused in another form: %j', async (settings) => {
    expect(await set(settings)).toMatchObject({ status: 400, code: 'invalid_request' });
  });

  it('are no use to whoever has only a password there', async () => {
    const bob = newPerson();
    knownAt(social, 'google', bob);
    await social.signIn('google', ann.tenantId);
    const answer = await fixture.logIn({ tenantId: ann.tenantId, email: bob.email });
    expect(answer).toMatchObject({ status: 401, code: 'invalid_credentials' });
  });
});
