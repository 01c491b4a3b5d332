/** Many failing webhooks do not hide others that are to be disabled. */
import { type ServiceFixture, testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { adminOf, makeWebhook, ROOT, startWebhookFixture } from './webhook-fixture.ts';

/** Two pages of the sweep, plus one. */
const CROWD = 1_001;
const DAY_MS = 86_400_000;

const database = testDatabase();
let fixture: ServiceFixture;
const start = () => startWebhookFixture({ databaseUrl: database.url });
beforeAll(async () => {
  fixture = await start();
});
afterAll(() => fixture?.stop());

const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS);

/**
 * These webhooks have been given up for longer than the tested one. No sweep can disable them, because their streams
 * are empty.
 */
async function insertCrowd(): Promise<void> {
  const { system } = fixture.shared.database;
  await system.query(
    `INSERT INTO webhooks.webhooks
       (id, tenant_id, url, events, enabled, keys, key_version, created_at)
     SELECT gen_random_uuid(), 'a crowd', 'https://example.com/', '{}', true, '', 1, $1
     FROM generate_series(1, $2)`,
    [daysAgo(30), CROWD],
  );
  await system.query(
    `INSERT INTO webhooks.health (webhook_id, tenant_id, failing_since, failures, unanswered)
     SELECT id, tenant_id, $1, 100, 0 FROM webhooks.webhooks WHERE tenant_id = 'a crowd'`,
    [daysAgo(20)],
  );
}

it('C1 a failing webhook is disabled though a thousand others have failed for longer', async () => {
  const admin = () => adminOf(fixture, 'calm');
  const { id } = await makeWebhook(admin(), 'https://example.com/');
  await insertCrowd();
  await fixture.shared.database.system.query(
    `INSERT INTO webhooks.health (webhook_id, tenant_id, failing_since, failures, unanswered)
     VALUES ($1, 'calm', $2, 100, 0)`,
    [id, daysAgo(6)],
  );
  expect((await admin().get(`${ROOT}/${id}`)).body.enabled).toBe(true);
  await fixture.stop();
  fixture = await start();
  await untilTrue(async () => !(await admin().get(`${ROOT}/${id}`)).body.enabled);
});
