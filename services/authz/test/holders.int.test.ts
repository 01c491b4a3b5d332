/** The calls of approval and vault: who holds a relation now, on each of two replicas. */
import { authzService } from '@cardea/authz';
import { HOLDERS_MAX } from '@cardea/contracts';
import {
  needRedis,
  type RedisServer,
  type ServiceFixture,
  serviceFixture,
  startRedis,
  testDatabase,
} from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminOf, tuple } from './fga-client.ts';

const SECRETS = { JWT_SECRET: 'j'.repeat(40), ENCRYPTION_KEY: 'e0'.repeat(32) };
const ROUNDS = 20;

const database = testDatabase();
needRedis();
let redis: RedisServer | undefined;
let writer: ServiceFixture;
let other: ServiceFixture;
beforeAll(async () => {
  redis = await startRedis();
  const env = { ...SECRETS, REDIS_URL: redis.url };
  const options = { databaseUrl: database.url, env, definitions: [authzService] };
  writer = await serviceFixture(options);
  other = await serviceFixture(options);
}, 60_000);
afterAll(async () => {
  await writer?.stop();
  await other?.stop();
  await redis?.stop();
});

const authzOf = (fixture: ServiceFixture) => fixture.host.needsOf('authz').peers.authz;
const ofDocument = { relation: 'viewer', object_type: 'document', object_id: 'd' };

describe('the holders of a relation', () => {
  it('are its users by any path, and a wildcard is named', async () => {
    const fga = adminOf(writer, 'holders');
    for (const each of [
      'user:ann member group:g',
      'group:g editor document:d',
      'user:bob viewer document:d',
      'agent:bot viewer document:d',
    ]) {
      await fga.write(each);
    }
    const asked = { tenant_id: 'holders', ...ofDocument };
    const both = { user_ids: ['ann', 'bob'], wildcard: false };
    for (const replica of [writer, other]) {
      expect(await authzOf(replica).holders(asked)).toEqual(both);
      const foreign = { ...asked, tenant_id: 'another' };
      expect((await authzOf(replica).holders(foreign)).user_ids).toEqual([]);
    }
    await fga.write('user:* viewer document:d');
    expect((await authzOf(other).holders(asked)).wildcard).toBe(true);
  });

  it('are nobody where the tenant knows no such relation, beside checks that it knows', async () => {
    await adminOf(writer, 'unknown').write('user:ann viewer document:d');
    const unknown = { ...ofDocument, relation: 'approver' };
    const { holders, check } = authzOf(other);
    expect(await holders({ tenant_id: 'unknown', ...unknown })).toEqual({
      user_ids: [],
      wildcard: false,
    });
    const checks = [
      { user_id: 'ann', ...unknown },
      { user_id: 'ann', ...ofDocument },
      { user_id: 'ann', ...ofDocument, relation: 'reviewer' },
      { user_id: 'bob', ...ofDocument },
    ];
    const { allowed } = await check({ tenant_id: 'unknown', checks });
    expect(allowed).toEqual([false, true, false, false]);
  });

  it('are at most one more than may decide, so that too many are noticed', async () => {
    const fga = adminOf(writer, 'many');
    const writes = Array.from({ length: 2 * HOLDERS_MAX }, (_, at) =>
      tuple(`user:u${at} viewer document:d`),
    );
    for (const some of [writes.slice(0, HOLDERS_MAX), writes.slice(HOLDERS_MAX)]) {
      const { status } = await fga.rest.post('/api/v1/fga/tuples/batch', { writes: some });
      expect(status).toBe(200);
    }
    const { user_ids } = await authzOf(other).holders({ tenant_id: 'many', ...ofDocument });
    expect(user_ids).toHaveLength(HOLDERS_MAX + 1);
  });

  it('lose the relation on the other replica once the removal was answered', async () => {
    const fga = adminOf(writer, 'removed');
    const asked = { tenant_id: 'removed', ...ofDocument };
    const checks = [{ user_id: 'ann', ...ofDocument }];
    for (let round = 0; round < ROUNDS; round++) {
      expect((await fga.write('user:ann viewer document:d')).status).toBe(201);
      expect((await authzOf(other).check({ tenant_id: 'removed', checks })).allowed).toEqual([
        true,
      ]);
      expect((await fga.delete('user:ann viewer document:d')).status).toBe(200);
      const [held, listed] = await Promise.all([
        authzOf(other).check({ tenant_id: 'removed', checks }),
        authzOf(other).holders(asked),
      ]);
      expect([held.allowed, listed.user_ids]).toEqual([[false], []]);
    }
  });
});
