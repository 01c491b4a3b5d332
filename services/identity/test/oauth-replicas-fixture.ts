/** Two replicas of identity with one issuer and one cache, which a test can stop. */
import { needRedis, type RedisServer, startRedis, testDatabase } from '@cardea/testing';
import { afterAll, beforeAll } from 'vitest';
import type { Account } from './identity-fixture.ts';
import { type OAuthFixture, oauthFixture } from './oauth-fixture.ts';

type Settings = {
  readonly [name in 'DATABASE_URL' | 'ENCRYPTION_KEY' | 'JWT_SECRET' | 'REDIS_URL']: string;
};

export type OAuthReplicas = {
  readonly one: OAuthFixture;
  readonly other: OAuthFixture;
  readonly redis: RedisServer;
  readonly admin: Account;
  readonly bob: Account;
  /** The settings for a further replica. */
  readonly settings: Settings;
};

/** Call it once, at the top of a file. The result is filled before the first test. */
export function oauthReplicasOfFile(env: { readonly [name: string]: string } = {}): OAuthReplicas {
  needRedis();
  const database = testDatabase();
  const replicas = {} as { -readonly [name in keyof OAuthReplicas]: OAuthReplicas[name] };
  beforeAll(async () => {
    replicas.redis = await startRedis();
    const settings = {
      REDIS_URL: replicas.redis.url,
      JWT_SECRET: 'a secret of both replicas, long enough',
      ENCRYPTION_KEY: 'c0ffee00'.repeat(8),
    };
    replicas.settings = { DATABASE_URL: database.url, ...settings };
    const own = { ...settings, ...env };
    replicas.one = await oauthFixture(database.url, own);
    replicas.other = await oauthFixture(database.url, own);
    replicas.admin = await replicas.one.signUp();
    replicas.bob = await replicas.one.register(replicas.admin.tenantId);
  }, 120_000);
  afterAll(async () => {
    await Promise.all([replicas.one?.stop(), replicas.other?.stop()]);
    await replicas.redis?.kill();
  });
  return replicas;
}
