/** A stranger registers a person's address. That does not keep the person who proves the address from using it. */
import { untilTrue } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { identityOfFile, PASSWORD } from './identity-fixture.ts';

const { fixture, admin: ann } = identityOfFile({ RATE_LIMIT_FACTOR: '10000' });

const MINUTE_MS = 61_000;
const OWN_PASSWORD = 'a password of the invited';
const admin = () => fixture.as(ann);
/** Signs in again for a recent sign-in. */
const again = async () => fixture.as(await fixture.signInAgain(ann));
const squatted = () => fixture.register(ann.tenantId, 'mallory');

describe('an invitation to a squatted address', () => {
  it('P5 is sent, and gives the account to whoever proves the address', async () => {
    const stranger = await squatted();
    const { email } = stranger;
    const made = await admin().post('/api/v1/admin/invitations', { email, roles: ['admin'] });
    expect(made.status).toBe(201);
    // Until the invitation is accepted, the stranger has none of its roles.
    expect((await fixture.logIn(stranger)).status).toBe(200);
    const { token } = await fixture.mail(email, /invited/i);
    const body = { token, password: OWN_PASSWORD };
    const joined = await fixture.rest.post('/api/v1/auth/invitations/accept', body);
    expect([joined.status, joined.body.user_id]).toEqual([200, stranger.userId]);
    expect((await fixture.logIn(stranger)).code).toBe('invalid_credentials');
    expect((await fixture.refresh(stranger.refresh)).code).toBe('invalid_refresh_token');
    const late = await fixture.as(stranger).post('/api/v1/me/mfa/totp', {});
    expect(late.code).toBe('unauthenticated');
    const shown = await admin().get(`/api/v1/admin/users/${stranger.userId}`);
    expect(shown.body).toMatchObject({
      ...{ email_verified: true, vouched: true, roles: ['admin'], display_name: null },
    });
    expect((await fixture.logIn(stranger, OWN_PASSWORD)).status).toBe(200);
    const again = await fixture.rest.post('/api/v1/auth/invitations/accept', body);
    expect(again.code).toBe('invalid_invitation');
  });

  it('P5 is refused where the address is proven', async () => {
    const bob = await squatted();
    const { token } = await fixture.mail(bob.email, /Confirm/);
    await fixture.as(bob).post('/api/v1/auth/verify-email', { token });
    const { email } = bob;
    const made = await admin().post('/api/v1/admin/invitations', { email });
    expect(made.code).toBe('email_already_exists');
  });
});

describe('an account whose address is not proven', () => {
  it.each([{ roles: ['member', 'admin'] }, { roles: ['owner'] }, { vouched: true }])(
    'P5 gets neither a rank above member nor a vouch: %j',
    async (change) => {
      const bob = await squatted();
      const path = `/api/v1/admin/users/${bob.userId}`;
      expect(await admin().patch(path, change)).toMatchObject({
        ...{ status: 409, code: 'email_not_verified' },
      });
      const { token } = await fixture.mail(bob.email, /Confirm/);
      await fixture.as(bob).post('/api/v1/auth/verify-email', { token });
      expect((await admin().patch(path, change)).body).toMatchObject({ ...change, vouched: true });
    },
  );
});

describe('a sign-up by a stranger', () => {
  const signUp = (email: string) =>
    fixture.rest.post('/api/v1/auth/signup', { email, password: PASSWORD, company_name: 'Mine' });

  it('P5 does not block the address: it gives way until it is proven', async () => {
    const stranger = await fixture.signUp('mallory');
    expect((await signUp(stranger.email)).body).not.toHaveProperty('access_token');
    fixture.clock.move(MINUTE_MS);
    const own = await signUp(stranger.email);
    expect(own.body.tenant_id).not.toBe(stranger.tenantId);
    const token = await untilTrue(async () => {
      const { body } = await fixture.rest.get('/dev/mailbox', { query: { to: stranger.email } });
      const links: readonly string[] = body.messages.map(({ link }: { link: string }) => link);
      const start = `#token=${own.body.tenant_id}`;
      return links.find((link) => link?.includes(start))?.split('#token=')[1];
    });
    const proof = { token, password: PASSWORD };
    expect((await fixture.rest.post('/api/v1/auth/verify-email', proof)).status).toBe(200);
    fixture.clock.move(MINUTE_MS);
    expect((await signUp(stranger.email)).body).not.toHaveProperty('access_token');
  });

  it('P5 is blocked by an account elsewhere that its holder proved, until it is deleted', async () => {
    const bob = await fixture.registerVerified(ann.tenantId);
    fixture.clock.move(MINUTE_MS);
    expect((await signUp(bob.email)).body).not.toHaveProperty('access_token');
    await (await again()).delete(`/api/v1/admin/users/${bob.userId}`);
    expect((await signUp(bob.email)).body).toHaveProperty('access_token');
  });

  it('P5 is blocked neither by an unproven account elsewhere, after a minute, nor by the word of an administrator', async () => {
    const stranger = await squatted();
    expect((await signUp(stranger.email)).body).not.toHaveProperty('access_token');
    fixture.clock.move(MINUTE_MS);
    expect((await signUp(stranger.email)).body).toHaveProperty('access_token');
    const email = 'said.to.be.proven@example.com';
    const made = await (await again()).post('/api/v1/admin/users', { email, email_verified: true });
    expect(made.body).toMatchObject({ email, email_verified: true });
    expect((await signUp(email)).body).toHaveProperty('access_token');
  });
});
