import { describe, expect, it } from 'vitest';
import { claimsOf, identityOfFile, PASSWORD } from './identity-fixture.ts';

const { fixture } = identityOfFile();

describe('the story of an account', () => {
  it('begins with a sign-up that makes organization, tenant, administrator and application', async () => {
    const ann = await fixture.signUp();
    const me = await fixture.as(ann).get('/api/v1/auth/me');
    expect(me.status).toBe(200);
    expect(me.body.user).toMatchObject({
      id: ann.userId,
      email: ann.email,
      roles: ['owner', 'admin'],
    });
    expect(me.body.tenant.id).toBe(ann.tenantId);
    expect(me.body.workspace.applications).toHaveLength(1);
    const applications = await fixture.as(ann).get('/api/v1/admin/applications');
    expect(applications.body.applications[0].publishable_key).toMatch(/^pk_test_/);
    expect(claimsOf(ann.access)).toMatchObject({
      sub: ann.userId,
      tid: ann.tenantId,
      tenant_id: ann.tenantId,
      email: ann.email,
    });
  });

  it('goes on with a user who registers by key, confirms by mail and signs in', async () => {
    const ann = await fixture.signUp();
    const { body } = await fixture.as(ann).get('/api/v1/admin/applications');
    const { publishable_key } = body.applications[0];
    const known = await fixture.rest.post('/api/v1/auth/identify', { publishable_key });
    expect(known.body).toMatchObject({
      tenant_id: ann.tenantId,
      auth_methods: { password: true, otp: true },
    });

    const email = 'Zoë.Bob@Exämple.com';
    const registered = await fixture.rest.post('/api/v1/auth/register', {
      publishable_key,
      email,
      password: PASSWORD,
      display_name: ' Bob ',
    });
    expect(registered.status).toBe(201);
    const address = 'zoë.bob@xn--exmple-cua.com';
    const { token } = await fixture.mail(address, /Confirm/);
    const proof = { token, password: PASSWORD };
    const verified = await fixture.rest.post('/api/v1/auth/verify-email', proof);
    expect(verified).toMatchObject({ status: 200, body: { status: 'email verified' } });

    const login = await fixture.logIn({ tenantId: ann.tenantId, email });
    expect(login.body).toMatchObject({
      user_id: registered.body.user_id,
      email_verified: true,
      mfa_required: false,
    });
    expect(login.headers.get('cache-control')).toBe('no-store');
    const bob = fixture.rest.as({ bearer: login.body.access_token });
    expect((await bob.get('/api/v1/user/profile')).body).toMatchObject({
      email: address,
      display_name: 'Bob',
      roles: ['member'],
      email_verified: true,
    });
    const changed = await bob.patch('/api/v1/user/profile', {
      display_name: null,
      avatar_url: 'https://example.com/b.png',
    });
    expect(changed.body).toMatchObject({
      display_name: null,
      avatar_url: 'https://example.com/b.png',
    });
    expect((await bob.get('/api/v1/me/sessions')).body.count).toBe(2);
  });

  it('shows the keys that its tokens are signed with', async () => {
    const ann = await fixture.signUp();
    const { body, headers } = await fixture.rest.get('/.well-known/jwks.json');
    const [header = ''] = ann.access.split('.');
    const { kid, alg, typ } = JSON.parse(Buffer.from(header, 'base64url').toString());
    expect({ alg, typ }).toEqual({ alg: 'EdDSA', typ: 'at+jwt' });
    expect(body.keys.map((key: { kid: string }) => key.kid)).toContain(kid);
    expect(headers.get('cache-control')).toBe('public, max-age=300');
    const again = await fetch(`${fixture.baseUrl}/.well-known/jwks.json`, {
      headers: { 'if-none-match': headers.get('etag') ?? '' },
    });
    expect(again.status).toBe(304);
  });
});
