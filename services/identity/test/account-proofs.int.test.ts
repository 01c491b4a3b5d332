/** A sign-in that is too old is confirmed at a form of the account's pages, by each method that they offer. */
import { describe, expect, it } from 'vitest';
import { signedIn } from './account-pages-fixture.ts';
import { newEmail } from './email-change-fixture.ts';
import { type Account, PASSWORD } from './identity-fixture.ts';
import { nextCode, withTotp } from './mfa-fixture.ts';
import { oauthOfFile } from './oauth-fixture.ts';
import { softwareAuthenticator } from './software-authenticator.ts';

// The pages offer passkeys only if they are served at the domain of the passkeys.
const { fixture, admin } = oauthOfFile({ ISSUER: 'http://cardea.test' });
const PATH = '/account/email';
const STEP_UP_MS = 600_000;

type Pages = Awaited<ReturnType<typeof signedIn>>;
type Proof = { readonly [field: string]: string };
type Refusal = { readonly status: number; readonly text: string };
/** The method by which one person confirms a sign-in: the right proof, and wrong ones with their refusals. */
type Method = {
  readonly field: string;
  readonly right: (pages: Pages) => Promise<Proof>;
  readonly wrong: readonly (Refusal & { readonly show: (pages: Pages) => Promise<Proof> })[];
};

const BAD_CODE = { status: 401, text: 'That code is not right.' };
const BAD_PASSKEY = { status: 401, text: 'That passkey is not right.' };
const TOO_LATE = { status: 410, text: 'That took too long.' };

/** Asks for a challenge as the script of the page does, and answers it. */
async function answered(
  { get }: Pages,
  key: ReturnType<typeof softwareAuthenticator>,
): Promise<Proof> {
  const { status, body, text } = await get(`${PATH}?part=proof`);
  expect(status, text).toBe(200);
  return shown(body.challenge_id, key.get(body.options));
}
const shown = (challenge_id: string, response: object): Proof => ({
  proof_challenge_id: challenge_id,
  proof_response: JSON.stringify(response),
});

async function passkeyOf(account: Account): Promise<Method> {
  const key = softwareAuthenticator();
  const me = fixture.as(account);
  const { challenge_id, options } = (await me.post('/api/v1/me/passkeys/options')).body;
  const response = key.create(options);
  const { status, text } = await me.post('/api/v1/me/passkeys', { challenge_id, response });
  expect(status, text).toBe(201);
  return {
    field: 'proof_response',
    right: (pages) => answered(pages, key),
    wrong: [
      { ...BAD_PASSKEY, show: (pages) => answered(pages, softwareAuthenticator()) },
      ...[{}, { id: 7 }, { id: 'x', response: null }].map((odd) => ({
        ...BAD_PASSKEY,
        show: async (pages: Pages) => ({
          ...(await answered(pages, key)),
          proof_response: JSON.stringify(odd),
        }),
      })),
      { ...TOO_LATE, show: async () => shown('nothing', key.get({ challenge: 'nothing' })) },
    ],
  };
}

const METHODS: { readonly [name: string]: (account: Account) => Promise<Method> } = {
  password: async () => ({
    field: 'proof_password',
    right: async () => ({ proof_password: PASSWORD }),
    wrong: [
      {
        status: 401,
        text: 'That password is not right.',
        show: async () => ({ proof_password: 'not the password' }),
      },
    ],
  }),
  'code of an authenticator': async (account) => {
    const { secret } = await withTotp(fixture, account);
    return {
      field: 'proof_code',
      right: async () => ({ proof_code: nextCode(fixture, secret) }),
      wrong: [
        { ...BAD_CODE, show: async () => ({ proof_code: '000000' }) },
        { ...BAD_CODE, show: async () => ({ proof_code: 'twelve' }) },
      ],
    };
  },
  'recovery code': async (account) => {
    const [right = '', used = ''] = (await withTotp(fixture, account)).recoveryCodes;
    const spend = { method: 'recovery', code: used };
    const spent = await fixture.as(account).post('/api/v1/auth/step-up', spend);
    expect(spent.status, spent.text).toBe(200);
    return {
      field: 'proof_code',
      right: async () => ({ proof_code: right }),
      wrong: [
        { ...BAD_CODE, show: async () => ({ proof_code: used }) },
        { ...BAD_CODE, show: async () => ({ proof_code: 'x'.repeat(100) }) },
      ],
    };
  },
  passkey: passkeyOf,
};

describe('people 8 a change that wants a recent sign-in', () => {
  it.each(Object.keys(METHODS))(
    'is confirmed by a %s and done in one press; a wrong proof does nothing and keeps the entries',
    async (name) => {
      const bob = await fixture.registerVerified(admin.tenantId);
      const pages = await signedIn(fixture, bob);
      const { field, right, wrong } = await (METHODS[name] as (typeof METHODS)[string])(bob);
      const email = newEmail();
      const opened = await pages.get(`${PATH}?form=change`);
      fixture.clock.move(STEP_UP_MS);
      const press = (proof: Proof = {}) =>
        pages.send(last, { form: 'change', typed: { email, ...proof } });
      let last = opened;
      last = await press();
      expect(last.status).toBe(401);
      expect(last.text).toContain(`name="${field}"`);
      expect(last.text).toContain(`value="${email}"`);
      for (const { show, status, text } of wrong) {
        const proof = await show(pages);
        last = await press(proof);
        expect([last.status, last.text.includes(text)], last.text).toEqual([status, true]);
        expect(last.text).toContain(`value="${email}"`);
        expect(last.text).toContain(`name="${field}"`);
        for (const secret of Object.values(proof)) {
          expect(last.text).not.toContain(`value="${secret}"`);
        }
        expect((await pages.get(PATH)).text).not.toContain(email);
      }
      const done = await press(await right(pages));
      expect(done.location, done.text).toBe(`${PATH}?done=change`);
      expect((await pages.get(PATH)).text).toContain(email);
    },
  );
});
