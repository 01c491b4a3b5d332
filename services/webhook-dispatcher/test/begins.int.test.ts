import { randomUUID } from 'node:crypto';
import {
  type FakeEventStore,
  type ServiceFixture,
  startFakeEventStore,
  testDatabase,
  type WebhookSink,
  webhookSink,
} from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminOf, makeWebhook, ROOT, startWebhookFixture, userCreated } from './webhook-fixture.ts';

const TENANT = 'beginning';
const TWO_MINUTES_MS = 120_000;

let fixture: ServiceFixture;
let sink: WebhookSink;

/** Appends an event to identity's log and returns its position. */
async function recorded(): Promise<bigint> {
  const [outcome] = await fixture.shared.storeFor('identity').append([
    {
      streamId: `user-${randomUUID()}`,
      expected: 0,
      events: [
        {
          id: randomUUID(),
          type: 'UserRegistered',
          schemaVersion: 1,
          time: new Date(),
          data: {},
          metadata: { tenantId: TENANT, actor: { type: 'system', id: 'identity' } },
        },
      ],
    },
  ]);
  if (!outcome?.appended) throw new Error('nothing was appended');
  return outcome.position;
}

async function published(position: bigint, id: string, time = new Date()): Promise<void> {
  const { rows } = await fixture.shared.database.system.query<{ epoch: string }>(
    'SELECT epoch FROM bus.log_epoch',
  );
  await fixture.publish({
    ...userCreated(TENANT, { id }),
    streamId: 'user-of-one-partition',
    position: String(position),
    logEpoch: rows[0]?.epoch ?? '',
    time: time.toISOString(),
  });
}

describe.each(['PostgreSQL', 'EventStoreDB'])('events in %s', (store) => {
  const database = testDatabase();
  let standIn: FakeEventStore | undefined;
  beforeAll(async () => {
    sink = await webhookSink();
    standIn = store === 'PostgreSQL' ? undefined : await startFakeEventStore();
    const env = standIn === undefined ? {} : { EVENTSTORE_URL: standIn.url };
    fixture = await startWebhookFixture({ databaseUrl: database.url, env });
  });
  afterAll(async () => {
    await fixture?.stop();
    await sink?.close();
    await standIn?.stop();
  });

  it('a new webhook gets no event of before it, and all of after it from a clock two minutes behind', async () => {
    const before = await recorded();
    const { id } = await makeWebhook(adminOf(fixture, TENANT), `${sink.url}/begins`);
    const after = await recorded();
    await published(before, 'of-before');
    await published(after, 'of-after', new Date(Date.now() - TWO_MINUTES_MS));
    const request = await sink.waitFor(({ body }) => body.includes('of-after'));
    expect(request.path).toBe('/begins');
    // Both were scheduled in the order in which they were published.
    expect(sink.received.map(({ body }) => body.includes('of-before'))).toEqual([false]);
    const { body } = await adminOf(fixture, TENANT).get(`${ROOT}/${id}`);
    expect(Object.keys(body)).not.toContain('begins_after');
  });
});
