/** Which pages and apps may create and use a tenant's passkeys. */
import { describe, expect, it } from 'vitest';
import { type Account, identityOfFile } from './identity-fixture.ts';
import { softwareAuthenticator } from './software-authenticator.ts';

const { fixture } = identityOfFile({ RATE_LIMIT_FACTOR: '1000' });

const MINE = '/api/v1/me/passkeys';
const SIGN_IN = '/api/v1/auth/passkeys';
const HASH = 'hoC6LmPOH9r0ZbYh8mUvtU7lQ0-3xGvSg2zTq1kWb_A';
const RP_ID = 'app.example';

const allow = (boss: Account, origins: readonly string[]) =>
  fixture.as(boss).patch(`/api/v1/admin/tenants/${boss.tenantId}`, {
    settings: { webauthn: { rp_id: RP_ID, origins } },
  });

describe('an app of Android [identity-21]', () => {
  it.each([`android:apk-key-hash:${HASH}`, `android:apk-key-hash-sha256:${HASH}`])(
    'makes and shows passkeys at its origin, another app does not: %s',
    async (origin) => {
      const boss = await fixture.signUp();
      const { tenantId: tenant } = boss;
      expect((await allow(boss, ['https://app.example', origin])).status).toBe(200);
      const key = softwareAuthenticator();
      const making = (await fixture.as(boss).post(`${MINE}/options`)).body;
      const response = key.create(making.options, { origin });
      const { challenge_id } = making;
      expect((await fixture.as(boss).post(MINE, { challenge_id, response })).status).toBe(201);
      const show = async (at: string) => {
        const asked = (await fixture.rest.post(`${SIGN_IN}/options`, {}, { tenant })).body;
        const shown = key.get(asked.options, { origin: at });
        const body = { challenge_id: asked.challenge_id, response: shown };
        return (await fixture.rest.post(`${SIGN_IN}/verify`, body, { tenant })).status;
      };
      expect(await show(origin)).toBe(200);
      expect(await show(`android:apk-key-hash:${'A'.repeat(43)}`)).toBe(401);
    },
  );

  it.each([
    `android:apk-key-hash:${HASH}=`,
    'android:apk-key-hash:',
    `android:apk-key-hash-sha1:${HASH}`,
    `ios:bundle-id:${HASH}`,
    'https://app.example/path',
  ])('is refused where its origin could never be one: %s', async (origin) => {
    const refused = await allow(await fixture.signUp(), [origin]);
    expect(refused).toMatchObject({ status: 400, code: 'invalid_request' });
  });
});
