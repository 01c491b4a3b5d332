import { systemClock } from '@cardea/runtime';
import { testDatabase } from '@cardea/testing';
import { expect, it } from 'vitest';
import { adminOf, ROOT, startWebhookFixture } from './webhook-fixture.ts';

const DAY_MS = 24 * 3_600_000;
const database = testDatabase();

it('a webhook is made anew under one Idempotency-Key after a day', async () => {
  let movedMs = 0;
  const clock = { ...systemClock, now: () => new Date(Date.now() + movedMs) };
  const fixture = await startWebhookFixture({ databaseUrl: database.url, clock });
  try {
    const post = (description: string) =>
      adminOf(fixture, 'daily').post(
        ROOT,
        { url: 'https://example.com/hook', events: ['user.created'], description },
        { headers: { 'idempotency-key': 'daily' } },
      );
    const first = await post('one');
    expect(first.status).toBe(201);
    expect((await post('two')).code).toBe('idempotency_key_reused');
    movedMs = DAY_MS;
    const second = await post('two');
    expect([second.status, second.body.id === first.body.id]).toEqual([201, false]);
    expect((await post('two')).body.error.details).toEqual({ id: second.body.id });
  } finally {
    await fixture.stop();
  }
});
