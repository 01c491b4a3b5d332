/** Two replicas rotate their signing keys for a year, on a clock that the test advances. */
import { type PublicJwk, tokenVerifier } from '@cardea/auth';
import { sealer, wrapKeys } from '@cardea/crypto';
import { postgresEventStore, type RecordedEvent, streams } from '@cardea/event-store';
import { openDatabase, postgresSubjectKeys } from '@cardea/read-models';
import {
  armFailPoints,
  type FakeClock,
  fakeClock,
  inProcessCache,
  parseFailPoints,
  secret,
  uuidFrom,
} from '@cardea/runtime';
import { silentLogger, testDatabase } from '@cardea/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { type SigningKeys, signingKeys } from '../src/signing-keys/signing-keys.ts';
import { tellChangedKeys } from '../src/signing-keys/tell-changed-keys.policy.ts';

const HOUR_MS = 3600_000;
const DAY_MS = 24 * HOUR_MS;
const STEP_MS = 12 * HOUR_MS;
const START = '2026-01-01T00:00:00.000Z';
const ISSUER = 'https://id.example';
const EVENTS_MAX = 500;
/** Lifetime of a token in seconds: the longest that JWT_EXPIRY allows. */
const TOKEN_LIFE_S = 24 * 3600;
const SECRETS = { ENCRYPTION_KEY: secret('ab12'.repeat(16)), ENCRYPTION_KEY_PREVIOUS: undefined };
/**
 * The points at which a replica dies: before an append, after it but before the notification, and after the erasure of
 * a removed key.
 */
const DEATHS = ['append.before_commit', 'append.after_commit', 'erase.after_key'] as const;

const database = testDatabase();
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  armFailPoints([]);
  for (const close of closers.splice(0)) await close();
});

function deployment(clock: FakeClock) {
  const store = postgresEventStore({ connectionString: database.url, log: 'identity' });
  const db = openDatabase({ connectionString: database.url, log: silentLogger });
  closers.push(store.close, db.close);
  const cache = inProcessCache(clock);
  let handled = 0n;
  const replica = async (): Promise<SigningKeys & { followLog(): Promise<void> }> => {
    const seals = sealer({
      table: postgresSubjectKeys(db, 'identity'),
      keys: wrapKeys(SECRETS, 'subject-wrap/v1'),
      clock,
    });
    const made = signingKeys({
      streams: streams(store),
      sealer: seals,
      log: silentLogger,
      cache,
      clock,
      rotateAfterMs: 90 * DAY_MS,
      kek: { current: Buffer.alloc(32, 7), previous: undefined },
      systemCommand: (tenantId, ...parts) => ({
        id: uuidFrom('identity', ...parts),
        now: clock.now(),
        metadata: { tenantId, actor: { type: 'system', id: 'identity' } },
      }),
    });
    await made.start();
    const policy = tellChangedKeys({ cache, sealer: seals });
    return {
      ...made,
      followLog: async () => {
        for (const event of await store.readLog('identity', handled, EVENTS_MAX)) {
          if (policy.on.includes(event.type)) await policy.handle(event);
          handled = event.position;
        }
      },
    };
  };
  return { replica, store, db };
}
type Replica = Awaited<ReturnType<ReturnType<typeof deployment>['replica']>>;

const turn = async (replica: Replica): Promise<void> => {
  await replica.keepSchedule();
  await replica.refresh();
  await replica.followLog();
};

const kids = ({ keys }: { readonly keys: readonly PublicJwk[] }) => keys.map(({ kid }) => kid);

function verifierOf(replica: () => Replica, clock: FakeClock) {
  const revocations = {
    isRevoked: () => false,
    subscriptionEpoch: () => 0,
    look: async () => ({ revoked: [], values: undefined }),
  };
  return tokenVerifier({ jwks: async () => replica().jwks(), issuer: ISSUER, clock, revocations });
}

const claimsAt = (now: Date) => {
  const iat = now.getTime() / 1000;
  const tenant = { tid: 't1', tenant_id: 't1' };
  const who = { iss: ISSUER, sub: 'user-1', aud: `${ISSUER}/api`, jti: `${iat}` };
  return { ...who, ...tenant, iat, exp: iat + TOKEN_LIFE_S };
};

describe('the signing keys over a year', () => {
  it('oauth 12 replace each other every 90 days, whoever dies at which step, and no token fails before its time', {
    timeout: 240_000,
  }, async () => {
    const clock = fakeClock(START);
    const { replica, store, db } = deployment(clock);
    let pair = [await replica(), await replica()] as const;
    // This verifier gets no notifications. It finds new keys and drops removed ones on its own.
    const untold = verifierOf(() => pair[1], clock);
    const signed: { readonly token: string; readonly atMs: number }[] = [];
    const published: string[][] = [];
    const deaths = { 'append.before_commit': 0, 'append.after_commit': 0, 'erase.after_key': 0 };

    for (let atMs = 0; atMs < 365 * DAY_MS; atMs += STEP_MS) {
      for (const point of DEATHS) {
        armFailPoints(parseFailPoints(`${point}=throw`) ?? []);
        const died = await turn(pair[0]).then(
          () => false,
          () => true,
        );
        armFailPoints([]);
        if (!died) continue;
        deaths[point] += 1;
        pair = [pair[1], await replica()];
      }
      await Promise.all(pair.map(turn));
      expect(kids(pair[0].jwks())).toEqual(kids(pair[1].jwks()));
      const now = kids(pair[0].jwks());
      if (published.at(-1)?.join() !== now.join()) published.push(now);

      signed.push({
        token: pair[atMs % DAY_MS === 0 ? 0 : 1].sign('at+jwt', claimsAt(clock.now())),
        atMs,
      });
      for (const { token, atMs: then } of signed) {
        const result = await untold.verify('access', token);
        const isDue = atMs - then >= TOKEN_LIFE_S * 1000;
        expect(
          'ok' in result,
          `signed at ${then / HOUR_MS} h, checked at ${atMs / HOUR_MS} h`,
        ).toBe(!isDue);
      }
      while (signed[0] !== undefined && atMs - signed[0].atMs > TOKEN_LIFE_S * 1000) signed.shift();
      await clock.advance(STEP_MS);
    }

    const ring = (await pair[0].ring()).keys;
    const [a = '', b = '', c = '', d = '', e = ''] = [...new Set(published.flat())];
    expect(published).toEqual([[a], ...[[a, b], [b], [b, c], [c], [c, d], [d], [d, e], [e]]]);
    expect(ring).toMatchObject([
      { kid: e, state: 'active' },
      { state: 'active', publicJwk: { alg: 'RS256' } },
      { state: 'active', publicJwk: { alg: 'ES256' } },
    ]);
    // Each of four rotations appends three times, and erases once.
    expect(deaths).toEqual({
      'append.before_commit': 12,
      'append.after_commit': 12,
      'erase.after_key': 4,
    });
    for (const stream of ['keyring-main', 'keyring-rs256', 'keyring-es256']) {
      expect([stream, ...(await history(store.readStream(stream)))]).toEqual([
        stream,
        ['KeyAdded', 0],
        ['KeyActivated', 0],
        ...[1, 2, 3, 4].flatMap((nth) => [
          ['KeyAdded', nth * 90 - 1],
          ['KeyActivated', nth * 90],
          ['KeyRetired', nth * 90],
          ['KeyRemoved', nth * 90 + 2],
        ]),
      ]);
    }
    const { rows } = await db.system.query<{ subject_id: string }>(
      `SELECT subject_id FROM identity.subject_keys
       WHERE subject_id LIKE 'jwk:%' AND wrapped IS NOT NULL AND subject_id = ANY($1)`,
      [[a, b, c, d, e].map((kid) => `jwk:${kid}`)],
    );
    expect(rows).toEqual([{ subject_id: `jwk:${e}` }]);
  });
});

/** Event types, each with its day. */
async function history(events: Promise<readonly RecordedEvent[]>) {
  return (await events).map(({ type, time }) => [
    type,
    Math.round((time.getTime() - new Date(START).getTime()) / DAY_MS),
  ]);
}
