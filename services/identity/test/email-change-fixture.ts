/** What tests of address changes share: users, their requests and the results. */
import type { RestAnswer } from '@cardea/testing';
import { type Account, type IdentityFixture, type OfFile, PASSWORD } from './identity-fixture.ts';
import { mfaTokenOf, show, withTotp } from './mfa-fixture.ts';

export const EMAIL = '/api/v1/user/email';
export const VERIFY = '/api/v1/auth/email-change/verify';
export const MINUTE_MS = 60_000;
export const DAY_MS = 24 * 3600_000;
export const NEW = /Confirm your new e-mail address/;
export const PRESENT = /Confirm that your account gets/;

let count = 0;
export const newEmail = () => {
  count += 1;
  return `next.${count}@example.com`;
};
export const codeOf = ({ status, code }: RestAnswer) =>
  code === undefined ? `${status}` : `${status} ${code}`;
export const statusOf = ({ status, body }: RestAnswer) =>
  `${status} ${body?.status ?? body?.error?.code}`;

export function emailChangesOf({ fixture, admin: ann }: OfFile<IdentityFixture>) {
  const newcomer = () => fixture.registerVerified(ann.tenantId);
  const asAdmin = async () => fixture.as(await fixture.signInAgain(ann));
  return {
    newcomer,
    asAdmin,
    ask: (of: Account, email: string, more: object = {}) =>
      fixture.as(of).post(EMAIL, { email, ...more }),
    press: (token: string, path = VERIFY) => fixture.rest.post(path, { token }),
    registering: (email: string) =>
      fixture.rest.post(
        '/api/v1/auth/register',
        { email, password: PASSWORD, display_name: 'Somebody' },
        { tenant: ann.tenantId },
      ),
    typesOf: async ({ userId }: Pick<Account, 'userId'>) =>
      (await fixture.host.needsOf('identity').store.readStream(`user-${userId}`)).map(
        ({ type }) => type,
      ),
    emailOf: async (of: Account) =>
      (await fixture.as(of).get(EMAIL)).body as {
        email: string;
        email_verified: boolean;
        change: { missing: string[]; effective_at: string | null } | null;
      },
    holdersOf: async (email: string) => {
      const { body } = await (await asAdmin()).get('/api/v1/admin/users', { query: { email } });
      return body.users.map(({ id }: { id: string }) => id) as readonly string[];
    },
    subjectsTo: async (to: string): Promise<readonly string[]> => {
      const { body } = await fixture.rest.get('/dev/mailbox', { query: { to } });
      return body.messages.map(({ subject }: { subject: string }) => subject);
    },
    /** A user whose second factor is a week old, signed in with it. */
    withOldFactor: async () => {
      const eva = await withTotp(fixture, await newcomer());
      fixture.clock.move(8 * DAY_MS);
      const [code = ''] = eva.recoveryCodes;
      const shown = await show(fixture, await mfaTokenOf(fixture, eva), {
        method: 'recovery',
        code,
      });
      return { ...eva, access: shown.body.access_token as string };
    },
  };
}
