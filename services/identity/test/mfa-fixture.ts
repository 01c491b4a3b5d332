/** Users with an authenticator app. */
import type { RestAnswer } from '@cardea/testing';
import { Secret, TOTP } from 'otpauth';
import type { Account, IdentityFixture } from './identity-fixture.ts';

export const STEP_MS = 30_000;

/** The code that the app shows now. */
export const codeOf = (secret: string, now: Date): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: now.getTime() });

export type Enrolled = Account & {
  readonly factorId: string;
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
};

/** The code of the next time step, which no earlier call has used. */
export function nextCode({ clock }: IdentityFixture, secret: string): string {
  clock.move(STEP_MS);
  return codeOf(secret, clock.now());
}

export async function withTotp(fixture: IdentityFixture, account: Account): Promise<Enrolled> {
  const me = fixture.as(account);
  const begun = await me.post('/api/v1/me/mfa/totp', { name: 'My phone' });
  if (begun.status !== 201) throw new Error(`${begun.status} ${begun.text}`);
  const { factor_id: factorId, secret } = begun.body;
  const code = nextCode(fixture, secret);
  const confirmed = await me.post(`/api/v1/me/mfa/totp/${factorId}/confirm`, { code });
  if (confirmed.status !== 200) throw new Error(`${confirmed.status} ${confirmed.text}`);
  return { ...account, factorId, secret, recoveryCodes: confirmed.body.recovery_codes };
}

/** The token of a login whose second factor is due. */
export async function mfaTokenOf(
  fixture: IdentityFixture,
  account: Pick<Account, 'tenantId' | 'email'>,
): Promise<string> {
  const { status, body, text } = await fixture.logIn(account);
  if (status !== 200 || body.mfa_token === undefined) throw new Error(`${status} ${text}`);
  return body.mfa_token;
}

export const VERIFY = '/api/v1/auth/mfa/verify';

export const show = (
  fixture: IdentityFixture,
  mfa_token: string,
  shown: { readonly method: string; readonly code?: string; readonly challenge_id?: string },
  options: Parameters<IdentityFixture['rest']['post']>[2] = {},
): Promise<RestAnswer> => fixture.rest.post(VERIFY, { mfa_token, ...shown }, options);
