/** Puts many tuples into the log of a tenant at once, and waits until a service and its relay have them. */
import { hash } from 'node:crypto';
import type { Append } from '@cardea/event-store';
import { uuidFrom } from '@cardea/runtime';
import { type ReferenceTuple, type ServiceFixture, untilTrue } from '@cardea/testing';

const APPENDS_AT_ONCE = 256;
/** Long enough for 200,000 tuples on a busy machine. */
const CATCH_UP_MS = 1_200_000;

export async function seedTuples(
  fixture: ServiceFixture,
  tenantId: string,
  tuples: Iterable<ReferenceTuple>,
): Promise<void> {
  const { store, positions } = fixture.host.needsOf('authz');
  let batch: Append[] = [];
  let last = 0n;
  const flush = async () => {
    for (const outcome of await store.append(batch)) {
      if (outcome.appended && outcome.position > last) last = outcome.position;
    }
    batch = [];
  };
  for (const tuple of tuples) {
    batch.push(appendOf(tenantId, tuple));
    if (batch.length === APPENDS_AT_ONCE) await flush();
  }
  await flush();
  if (!(await positions.reached(['tuples'], last, CATCH_UP_MS))) {
    throw new Error('the table did not take the tuples in time');
  }
  // Waits for the relay, which would otherwise still publish the tuples while checks are measured.
  await untilTrue(
    async () => BigInt((await fixture.shared.cache.get('relay:authz')) ?? 0) >= last,
    { deadlineMs: CATCH_UP_MS },
  );
}

function appendOf(tenantId: string, fields: ReferenceTuple): Append {
  const key = hash('sha256', JSON.stringify([tenantId, ...Object.values(fields)]));
  const now = new Date();
  const data = { tuple_id: uuidFrom(key), ...fields, created_at: now.toISOString() };
  const event = { id: uuidFrom('event', key), type: 'TupleWritten', schemaVersion: 1, time: now };
  const metadata = { tenantId, actor: { type: 'system', id: 'bench' } } as const;
  return {
    streamId: `tuple-${key}`,
    expected: 'any',
    events: [{ ...event, data, metadata }],
  };
}
