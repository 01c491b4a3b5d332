import { randomUUID } from 'node:crypto';
import { type ServiceFixture, seededRandom, testDatabase, testForm } from '@cardea/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { healthTable } from '../src/deliveries/health.projection.ts';
import { startWebhookFixture } from './webhook-fixture.ts';

const SERIES = 25;
const FACTS = 14;

const database = testDatabase();
let fixture: ServiceFixture;
beforeAll(async () => {
  fixture = await startWebhookFixture({ databaseUrl: database.url });
});
afterAll(() => fixture?.stop());

it('R5 the health of a webhook is the same whatever batches its events come in', async () => {
  const { system, asSystemAtOnce } = fixture.shared.database;
  const { apply } = healthTable(() => {});
  const random = seededRandom(String(testForm.seed));
  const chance = (one: number): boolean => random.bytes(4).readUInt32BE() / 2 ** 32 < 1 / one;
  const write = async (events: readonly object[]): Promise<void> => {
    const statements = apply?.statements(events as never, {
      rebuilding: false,
      schema: 'webhooks',
    });
    if (statements?.length) await asSystemAtOnce.call(fixture.shared.database, statements);
  };
  const rowOf = async (id: string) =>
    (
      await system.query(
        `SELECT failing_since, failures, unanswered, last_success_at
         FROM webhooks.health WHERE webhook_id = $1`,
        [id],
      )
    ).rows;
  let failures = 0;
  for (let series = 0; series < SERIES; series += 1) {
    const [alone, batched] = [randomUUID(), randomUUID()];
    const kinds = Array.from({ length: FACTS }, () => {
      if (chance(12)) return 'WebhookDeleted';
      if (chance(8)) return 'WebhookChanged';
      return chance(6) ? 'DeliverySucceeded' : 'DeliveryAttempted';
    });
    const silent = kinds.map(() => chance(2));
    const eventsOf = (id: string) =>
      kinds.map((type, at) => ({
        type,
        streamId: `webhook-${id}`,
        metadata: { tenantId: 'ours' },
        data: {
          ...{ webhook_id: id, enabled: true },
          status_code: silent[at] ? 0 : 500,
          started_at: new Date(Date.UTC(2031, 0, 1, 0, 0, at)).toISOString(),
        },
      }));
    for (const event of eventsOf(alone)) await write([event]);
    const waiting = eventsOf(batched);
    while (waiting.length > 0) {
      await write(waiting.splice(0, 1 + Math.floor(random.bytes(1).readUInt8() / 32)));
    }
    const row = await rowOf(batched);
    expect(row).toEqual(await rowOf(alone));
    failures += Number(row[0]?.['failures'] ?? 0);
  }
  expect(failures).toBeGreaterThan(0);
});
