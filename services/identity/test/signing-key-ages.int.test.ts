/** Signing keys over HTTP, at two replicas that are restarted on later days. */
import { identityService } from '@cardea/identity';
import { systemClock } from '@cardea/runtime';
import { type ServiceFixture, serviceFixture, testDatabase, untilTrue } from '@cardea/testing';
import { afterEach, expect, it } from 'vitest';
import { claimsOf, PASSWORD } from './identity-fixture.ts';

const HOUR_MS = 3600_000;
const ADMIN = { email: 'root@example.com', password: PASSWORD };
const ENV = {
  SIGNING_KEY_ROTATION_DAYS: '2',
  JWT_EXPIRY: '24h',
  JWT_SECRET: 'a secret of both replicas, long enough',
  ENCRYPTION_KEY: 'c0ffee00'.repeat(8),
  ADMIN_EMAIL: ADMIN.email,
  ADMIN_PASSWORD: ADMIN.password,
  ARGON2_MEMORY: '64',
  ARGON2_TIME: '1',
};

const database = testDatabase();
const fixtures: ServiceFixture[] = [];
const stopAll = async () => {
  for (const fixture of fixtures.splice(0)) await fixture.stop();
};
afterEach(stopAll);

/** Restarts both replicas this many hours after the first start. */
async function at(hours: number): Promise<readonly [ServiceFixture, ServiceFixture]> {
  await stopAll();
  const clock = { ...systemClock, now: () => new Date(Date.now() + hours * HOUR_MS) };
  const start = async (): Promise<ServiceFixture> => {
    const definitions = [identityService];
    const fixture = await serviceFixture({
      databaseUrl: database.url,
      definitions,
      clock,
      env: ENV,
    });
    fixtures.push(fixture);
    return fixture;
  };
  return [await start(), await start()];
}

const published = async ({ rest }: ServiceFixture): Promise<string[]> =>
  (await rest.get('/.well-known/jwks.json')).body.keys.map(({ kid }: { kid: string }) => kid);
const kidOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid;

async function signedIn(fixture: ServiceFixture): Promise<string> {
  const { rows } = await fixture.shared.database.system.query<{ tenant_id: string }>(
    'SELECT tenant_id FROM identity.users',
  );
  const tenant = rows[0]?.tenant_id ?? '';
  return (await fixture.rest.post('/api/v1/auth/login', ADMIN, { tenant })).body.access_token;
}

const believes = async ({ rest }: ServiceFixture, bearer: string) =>
  (await rest.get('/api/v1/auth/me', { bearer })).status;

/** Waits until both replicas report these states; returns the state of each key. */
async function untilStates(both: readonly ServiceFixture[], states: readonly string[]) {
  const shown = async (fixture: ServiceFixture) => {
    const bearer = await signedIn(fixture);
    const tenant = String(claimsOf(bearer)['tid']);
    const { body } = await fixture.rest.get('/api/v1/admin/keys', { bearer, tenant });
    const ringOf = (name: string): string =>
      body.keys
        .filter(({ alg }: { alg: string }) => alg === name)
        .map(({ state }: { state: string }) => state)
        .join();
    const [first = '', ...others] = ['EdDSA', 'RS256', 'ES256'].map(ringOf);
    return others.every((other) => other === first) ? first : 'rings that differ';
  };
  await untilTrue(
    async () => (await Promise.all(both.map(shown))).every((each) => each === states.join()),
    { what: `keys that are ${states}` },
  );
}

it('signing keys take turns by their age at every replica, and tokens are believed until they run out', {
  timeout: 240_000,
}, async () => {
  const first = await at(0);
  await untilStates(first, ['active']);
  const [a] = await published(first[0]);
  const pending = await at(24);
  await untilStates(pending, ['active', 'pending']);
  const [, b] = await published(pending[1]);
  expect(await published(pending[0])).toEqual([a, b]);
  expect(kidOf(await signedIn(pending[0]))).toBe(a);

  const last = await at(47);
  const token = await signedIn(last[0]);
  expect(kidOf(token)).toBe(a);
  const turned = await at(48);
  await untilStates(turned, ['retired', 'active']);
  expect(await Promise.all(turned.map(published))).toEqual([
    [a, b],
    [a, b],
  ]);
  for (const fixture of turned) expect(await believes(fixture, token)).toBe(200);
  await untilTrue(async () => kidOf(await signedIn(turned[1])) === b, { what: 'b signs' });

  const late = await at(70);
  for (const fixture of late) expect(await believes(fixture, token)).toBe(200);
  const gone = await at(97);
  await untilStates(gone, ['active', 'pending']);
  expect(await published(gone[0])).not.toContain(a);
  expect(await believes(gone[1], token)).toBe(401);
  await untilTrue(
    async () => {
      const { rows } = await gone[0].shared.database.system.query<{ gone: boolean }>(
        'SELECT wrapped IS NULL AS gone FROM identity.subject_keys WHERE subject_id = $1',
        [`jwk:${a}`],
      );
      return rows[0]?.gone === true;
    },
    { what: 'its private half is erased' },
  );
});
