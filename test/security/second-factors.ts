/** People with an authenticator app, in the running product. */
import { Secret, TOTP } from 'otpauth';
import type { Fortress } from './fortress.ts';
import { expectStatus, PASSWORD, type Person } from './users.ts';

export type WithTotp = {
  readonly person: Person;
  readonly secret: string;
  /** Recovery codes, which can be used without waiting for the next time step. */
  readonly codes: readonly string[];
};

export async function withTotp(world: Fortress): Promise<WithTotp> {
  const person = await world.addUser(world.a.owner, ['member']);
  const me = world.rest.as({ bearer: person.access });
  const begun = await me.post('/api/v1/me/mfa/totp', {});
  expectStatus(begun, 201);
  const { factor_id: id, secret } = begun.body;
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
  const confirmed = await me.post(`/api/v1/me/mfa/totp/${id}/confirm`, { code });
  expectStatus(confirmed, 200);
  return { person, secret, codes: confirmed.body.recovery_codes };
}

/** A login whose second factor is due. */
export async function pendingSignIn(
  world: Fortress,
): Promise<WithTotp & { readonly mfaToken: string }> {
  const enrolled = await withTotp(world);
  const { tenantId: tenant, email } = enrolled.person;
  const begun = await world.rest.post(
    '/api/v1/auth/login',
    { email, password: PASSWORD },
    { tenant },
  );
  expectStatus(begun, 200);
  return { ...enrolled, mfaToken: String(begun.body.mfa_token) };
}
