/**
 * Tests that the keys that sign for applications are published, and that no service accepts what they sign as an access
 * token.
 */
import { testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signingKeysModule } from '../../services/identity/src/signing-keys/signing-keys.module.ts';
import { type Fortress, fortress } from './fortress.ts';
import { claimsOf } from './users.ts';

/** An endpoint of each service that an owner may read. */
const READABLE = [
  '/api/v1/auth/me',
  '/api/v1/fga/tuples',
  '/api/v1/vault/services',
  '/api/v1/ciba/requests',
  '/api/v1/webhooks',
  '/api/v1/audit/events',
];
const database = testDatabase();
let world: Fortress;
let stopKeys: () => Promise<void>;
let sign: (alg: 'RS256' | 'ES256' | 'Ed25519', typ: string) => string;
beforeAll(async () => {
  world = await fortress({ databaseUrl: database.url });
  const { signingKeys } = signingKeysModule(world.host.needsOf('identity'));
  await signingKeys.start();
  const claims = claimsOf(world.a.owner.access);
  sign = (alg, typ) => signingKeys.signForClient(alg, typ, claims);
  stopKeys = signingKeys.stop;
});
afterAll(async () => {
  await stopKeys?.();
  await world?.stop();
});

const read = async (path: string, bearer: string) =>
  (await world.rest.get(path, { bearer, tenant: world.a.tenantId })).status;

describe('S17 an access token that a key for applications has signed', () => {
  it.each(READABLE)('oauth 27 opens no service: %s', async (path) => {
    expect(await read(path, world.a.owner.access)).toBe(200);
    for (const alg of ['RS256', 'ES256', 'Ed25519'] as const) {
      for (const typ of ['at+jwt', 'JWT', 'logout+jwt']) {
        expect([alg, typ, await read(path, sign(alg, typ))]).toEqual([alg, typ, 401]);
      }
    }
  });
});
