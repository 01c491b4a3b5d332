/**
 * The authorization service in a process of its own, with the tuples of one of the benchmarks' sets and an API
 * key for checks.
 */
import { hash } from 'node:crypto';
import { authzService } from '@cardea/authz';
import type { Append } from '@cardea/event-store';
import { uuidFrom } from '@cardea/runtime';
import { type ReferenceTuple, referenceSet, serviceFixture, untilTrue } from '@cardea/testing';
import { FGA_SETS, fgaSet } from '../subjects/fga-sets.ts';

const TENANT = 'bench';
const REQUESTS = 2_000;
const APPENDS_AT_ONCE = 256;
/** For 200,000 tuples on a machine that others use too. */
const CATCH_UP_MS = 1_200_000;

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

await seed();
process.send?.({
  pid: process.pid,
  origin: fixture.baseUrl,
  headers: {
    authorization: `Bearer ${fixture.tokens.apiKey({ tenantId: TENANT, scopes: ['fga:read', 'fga:write'] })}`,
    'x-service-tenant': TENANT,
  },
  questions: Array.from({ length: REQUESTS }, (_, at) => JSON.stringify(set.question(at))),
});

async function seed(): Promise<void> {
  const { store, positions } = fixture.host.needsOf('authz');
  let batch: Append[] = [];
  let last = 0n;
  const flush = async () => {
    for (const outcome of await store.append(batch)) {
      if (outcome.appended && outcome.position > last) last = outcome.position;
    }
    batch = [];
  };
  for (const tuple of set.tuples()) {
    batch.push(appendOf(tuple));
    if (batch.length === APPENDS_AT_ONCE) await flush();
  }
  await flush();
  if (!(await positions.reached(['tuples'], last, CATCH_UP_MS))) {
    throw new Error('the table did not take the tuples in time');
  }
  // Otherwise its relay would still be publishing them while checks are measured.
  await untilTrue(
    async () => BigInt((await fixture.shared.cache.get('relay:authz')) ?? 0) >= last,
    {
      deadlineMs: CATCH_UP_MS,
    },
  );
}

function appendOf(fields: ReferenceTuple): Append {
  const key = hash('sha256', JSON.stringify([TENANT, ...Object.values(fields)]));
  const now = new Date();
  const data = { tuple_id: uuidFrom(key), ...fields, created_at: now.toISOString() };
  const event = { id: uuidFrom('event', key), type: 'TupleWritten', schemaVersion: 1, time: now };
  const metadata = { tenantId: TENANT, actor: { type: 'system', id: 'bench' } } as const;
  return {
    streamId: `tuple-${key}`,
    expected: 'any',
    events: [{ ...event, data, metadata }],
  };
}
