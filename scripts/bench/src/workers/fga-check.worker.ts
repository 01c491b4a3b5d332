/**
 * The authorization service in a process of its own, with the tuples of one of the benchmarks' sets and an API
 * key for checks.
 */
import { authzService } from '@cardea/authz';
import { referenceSet, serviceFixture } from '@cardea/testing';
import { FGA_SETS, fgaSet } from '../subjects/fga-sets.ts';
import { seedTuples } from '../subjects/seed-tuples.ts';

const TENANT = 'bench';
const REQUESTS = 2_000;

const [databaseUrl = '', size, named, fastPath = 'on'] = process.argv.slice(2);
const smoke = size === 'smoke';
const compared = FGA_SETS.find((name) => name === named);
const set = compared === undefined ? referenceSet(smoke ? 200 : 10) : fgaSet(compared, smoke);
const fixture = await serviceFixture({
  databaseUrl,
  definitions: [authzService],
  env: { HTTP_FAST_PATH: fastPath },
});
process.on('disconnect', () => process.exit(0));

await seedTuples(fixture, TENANT, set.tuples());
process.send?.({
  pid: process.pid,
  origin: fixture.baseUrl,
  headers: {
    authorization: `Bearer ${fixture.tokens.apiKey({ tenantId: TENANT, scopes: ['fga:read', 'fga:write'] })}`,
    'x-service-tenant': TENANT,
  },
  questions: Array.from({ length: REQUESTS }, (_, at) => JSON.stringify(set.question(at))),
});
