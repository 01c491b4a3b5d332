/** Which addresses a provider may vouch for, and the result for others. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Account, identityOfFile } from './identity-fixture.ts';
import { DIRECTORY, newPerson, type SocialFixture, socialFixture } from './social-fixture.ts';

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

const told = ({ status, code }: { status: number; code: string | undefined }) =>
  `${status} ${code}`;
/** The sessions and accounts that resulted. */
async function gained(work: () => Promise<void>): Promise<readonly string[]> {
  const position = await fixture.head();
  await work();
  const types = (await fixture.eventsSince(position)).map(({ type }) => type);
  return types.filter((type) => /^(SessionStarted|UserRegistered|IdentityLinked)$/.test(type));
}

describe('an address that the provider does not vouch for', () => {
  it.each([
    { provider: 'google', claims: { email_verified: false } },
    { provider: 'google', claims: { email_verified: 'false' } },
    { provider: 'google', claims: { email_verified: false, hd: 'example.com' } },
    { provider: 'google', claims: {} },
    { provider: 'microsoft', claims: { tid: DIRECTORY } },
    { provider: 'microsoft', claims: { tid: DIRECTORY, email_verified: true } },
    { provider: 'microsoft', claims: { tid: DIRECTORY, xms_edov: false } },
  ] as const)(
    'identity 12 links and makes nobody: $provider, $claims',
    async ({ provider, claims }) => {
      const bob = await fixture.register(ann.tenantId);
      for (const email of [bob.email, newPerson().email]) {
        social.issuer.person = { sub: `sub of ${email}`, email, ...claims };
        const events = await gained(async () => {
          const answer = await social.signIn(provider, ann.tenantId);
          expect(told(answer)).toBe('403 email_not_verified');
        });
        expect(events).toEqual([]);
      }
      expect((await fixture.logIn(bob)).status).toBe(200);
    },
  );

  it.each([
    { primary: true, verified: false },
    { primary: false, verified: true },
  ])('identity 12 links and makes nobody: github, %j', async (flags) => {
    const bob = await fixture.register(ann.tenantId);
    const emails = [{ email: bob.email, ...flags }];
    social.github.person = { user: { id: 5_000_000, login: 'bob' }, emails };
    expect(told(await social.signIn('github', ann.tenantId))).toBe('403 email_not_verified');
  });

  it('identity 12 is that of a directory which the tenant has not named', async () => {
    const { email } = newPerson();
    const tid = DIRECTORY.replaceAll('1', '2');
    social.issuer.person = { sub: 'x', email, tid, xms_edov: true };
    const answer = await social.signIn('microsoft', ann.tenantId);
    expect(told(answer)).toBe('401 social_sign_in_failed');
  });
});

describe("an address of a domain that is not the provider's to vouch for", () => {
  const atGoogle = (email: string, more: object = {}) => {
    social.issuer.person = { sub: `sub of ${email}`, email, email_verified: true, ...more };
    return social.signIn('google', ann.tenantId);
  };

  it.each([{}, { hd: 'another.example' }])(
    'identity 12 opens no account that is there: google, %j',
    async (more) => {
      const bob = await fixture.register(ann.tenantId);
      const { token } = await fixture.mail(bob.email, /Confirm/);
      await fixture.as(bob).post('/api/v1/auth/verify-email', { token });
      const eve = await fixture.register(ann.tenantId, 'eve');
      for (const { email } of [bob, eve]) {
        const events = await gained(async () => {
          expect(told(await atGoogle(email, more))).toBe('403 email_not_verified');
        });
        expect(events).toEqual([]);
      }
      expect((await fixture.logIn(bob)).status).toBe(200);
    },
  );

  it('identity 12 makes an account whose address is proven by mail', async () => {
    const { email } = newPerson();
    const { status, body } = await atGoogle(email);
    expect([status, body.is_new_user]).toEqual([200, true]);
    const path = `/api/v1/admin/users/${body.user_id}`;
    expect((await fixture.as(ann).get(path)).body.email_verified).toBe(false);
    expect((await fixture.mail(email, /Confirm/)).token).not.toBe('');
    expect((await atGoogle(email)).body).toMatchObject({ is_new_user: false });
  });

  it.each([
    { address: 'gmail.com', more: {} },
    { address: 'googlemail.com', more: {} },
    { address: 'workspace.example', more: { hd: 'workspace.example' } },
    { address: 'workspace.example', more: { hd: 'Workspace.Example', email_verified: 'true' } },
  ])('identity 12 is proven where Google has the domain: $address, $more', async (of) => {
    const email = newPerson().email.replace('example.com', of.address);
    const made = await atGoogle(email, of.more);
    const path = `/api/v1/admin/users/${made.body.user_id}`;
    expect((await fixture.as(ann).get(path)).body.email_verified).toBe(true);
  });
});
