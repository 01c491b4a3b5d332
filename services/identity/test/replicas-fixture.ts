/** Two replicas of identity on one database and one cache, and callers from many networks. */
import { needRedis, type RestAnswer, startRedis, testDatabase } from '@cardea/testing';
import { afterAll, beforeAll } from 'vitest';
import { type Account, type IdentityFixture, identityFixture } from './identity-fixture.ts';

export type Replicas = {
  readonly first: IdentityFixture;
  readonly second: IdentityFixture;
  /** The replicas in turn. */
  at(call: number): IdentityFixture;
};

/** Call it once, at the top of a file. */
export function identityReplicas(more: { readonly [name: string]: string } = {}): Replicas {
  needRedis();
  const database = testDatabase();
  const stops: (() => Promise<unknown>)[] = [];
  let first: IdentityFixture | undefined;
  let second: IdentityFixture | undefined;
  beforeAll(async () => {
    const redis = await startRedis();
    stops.push(() => redis.stop());
    const env = {
      JWT_SECRET: 'j'.repeat(64),
      ENCRYPTION_KEY: 'e0'.repeat(32),
      REDIS_URL: redis.url,
      TRUSTED_PROXIES: '127.0.0.1/32',
      RATE_LIMIT_FACTOR: '100000',
      ...more,
    };
    first = await identityFixture(database.url, env);
    second = await identityFixture(database.url, env);
  });
  afterAll(async () => {
    await Promise.all([first?.stop(), second?.stop()]);
    await Promise.all(stops.map((stop) => stop()));
  });
  const running = (fixture: IdentityFixture | undefined): IdentityFixture => {
    if (fixture === undefined) throw new Error('The replicas exist from beforeAll on.');
    return fixture;
  };
  return {
    get first() {
      return running(first);
    },
    get second() {
      return running(second);
    },
    at: (call) => running(call % 2 === 0 ? first : second),
  };
}

/** A client as a server sees it. */
export type Client = { readonly network: number; readonly agent: string; readonly host?: number };

export const refreshAs = (
  fixture: IdentityFixture,
  token: string,
  { network, agent, host = 7 }: Client,
): Promise<RestAnswer> =>
  fixture.rest.post(
    '/api/v1/auth/refresh',
    { refresh_token: token },
    { headers: { ...fromNetwork(network, host), 'user-agent': agent } },
  );

/** A separate network, so that no limit per network is reached. */
export const fromNetwork = (n: number, host = 7) => ({
  'x-forwarded-for': `10.${n >> 8}.${n & 255}.${host}`,
});

export const changePassword = (
  fixture: IdentityFixture,
  account: Pick<Account, 'access' | 'tenantId'>,
  change: { readonly from: string; readonly to: string; readonly network?: number },
): Promise<RestAnswer> =>
  fixture
    .as(account)
    .post(
      '/api/v1/user/change-password',
      { current_password: change.from, new_password: change.to },
      change.network === undefined ? {} : { headers: fromNetwork(change.network) },
    );

/** Counts each response, named as `401 invalid_credentials`. */
export function tally(answers: readonly RestAnswer[]): { readonly [answer: string]: number } {
  const counts: { [answer: string]: number } = {};
  for (const { status, code } of answers) {
    const name = `${status} ${code ?? 'ok'}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
