import { inMemorySubjectKeys, sealer, wrapKeys } from '@cardea/crypto';
import { inMemoryEventStore, inMemoryLogs, streams } from '@cardea/event-store';
import type { Outbound, OutboundAnswer } from '@cardea/http';
import { fakeClock, secret, systemRandom, uuidV7Ids } from '@cardea/runtime';
import { silentLogger, untilTrue } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import type { Claimed, Queue } from '../../adapters/queue.ts';
import { issueSecret, readKeys } from '../../adapters/signing.ts';
import type { IndexedWebhook, WebhookIndex } from '../../webhooks/webhook-index.ts';
import { deliveries, streamOf } from '../delivery.ts';
import { schedule } from '../schedule-delivery.ts';
import { Dispatcher } from './dispatcher.ts';

const ID = '0198f3c2-0000-7000-8000-000000000001';
const TENANT = 't';
const SECOND = 1_000;

/** One due delivery, a receiver that says 200, and a projection that passes nothing until it is told to. */
async function oneDelivery() {
  const clock = fakeClock('2030-01-01T00:00:00Z');
  const ids = uuidV7Ids(clock);
  const store = inMemoryEventStore('webhooks', inMemoryLogs());
  const commands = streams(store);
  const settings = {
    JWT_SECRET: secret('j'.repeat(64)),
    JWT_SECRET_PREVIOUS: undefined,
    ENCRYPTION_KEY: secret('e'.repeat(64)),
    ENCRYPTION_KEY_PREVIOUS: undefined,
  };
  const keys = wrapKeys(settings, 'subject-wrap/v1');
  const seals = sealer({ table: inMemorySubjectKeys(), keys, clock });
  const systemCommand = (tenantId: string) => ({
    id: ids.next(),
    now: clock.now(),
    metadata: { tenantId, actor: { type: 'system', id: 'webhooks' } as const },
  });
  const subject = 'webhook:w';
  const place = { subject, streamId: streamOf(ID), field: 'body' };
  const body = await seals.seal(TENANT, place, '{}');
  const data = {
    webhook_id: 'w',
    app_id: null,
    event: 'user.created',
    origin: 'event',
    message_id: ID,
    source: null,
    retry_of: null,
    subject,
    body,
    attempts: 6,
    run_at: clock.now().toISOString(),
  } as const;
  await commands.decideOn(deliveries, ID, systemCommand(TENANT), schedule(data));

  const due: Claimed = {
    deliveryId: ID,
    tenantId: TENANT,
    webhookId: 'w',
    event: 'user.created',
    origin: 'event',
    messageId: ID,
    subject,
    box: body.box,
    traceparent: null,
    attemptsMade: 0,
    position: 1n,
  };
  let leaseEndMs = 0;
  const world = { projected: false, sent: 0 };
  const queue: Queue = {
    claim: async ({ now, leaseUntil }) => {
      if (world.projected || leaseEndMs > now.getTime()) return { claimed: [], nextAt: undefined };
      leaseEndMs = leaseUntil.getTime();
      return { claimed: [due], nextAt: undefined };
    },
    renew: async (held, _owner, until) => {
      if (held.includes(ID)) leaseEndMs = until.getTime();
    },
    release: async () => {
      leaseEndMs = 0;
    },
  };
  const outbound: Outbound = {
    send: async (): Promise<OutboundAnswer> => {
      world.sent += 1;
      return { status: 200, headers: {}, body: Buffer.alloc(0), durationMs: 1 };
    },
    close: async () => undefined,
  };
  const webhook = { id: 'w', tenantId: TENANT, enabled: true } as IndexedWebhook;
  const target = {
    url: 'https://example.com/',
    origin: 'https://example.com',
    keys: readKeys(issueSecret(systemRandom).keys),
  };
  const index = {
    reached: async () => true,
    get: () => webhook,
    target: async () => target,
  } as unknown as WebhookIndex;
  const dispatcher = new Dispatcher({
    index,
    sealer: seals,
    outbound,
    clock,
    queue,
    streams: commands,
    positions: {
      reached: async (_names, _position, ms) => {
        if (!world.projected) await clock.sleep(ms);
        return world.projected;
      },
      passed: () => 0n,
    },
    systemCommand,
    ids,
    random: systemRandom,
    settings: { WEBHOOK_CONCURRENCY: 4, WEBHOOK_RETRY_DELAYS: [30 * SECOND] },
    log: silentLogger,
  });
  return { clock, store, dispatcher, world };
}

describe('the dispatcher', () => {
  it('webhooks 12 posts nothing a second time while the projection is behind', async () => {
    const { clock, store, dispatcher, world } = await oneDelivery();
    const stop = new AbortController();
    const running = [
      dispatcher.run(stop.signal, () => undefined),
      dispatcher.renew(stop.signal, () => undefined),
    ];
    await untilTrue(async () => (await store.readLast(streamOf(ID)))?.type === 'DeliverySucceeded');
    for (let second = 0; second < 180; second++) await clock.advance(SECOND);
    expect(world.sent).toBe(1);
    expect(await store.readStream(streamOf(ID))).toHaveLength(2);
    world.projected = true;
    stop.abort();
    await clock.advance(60 * SECOND);
    await Promise.all(running);
  });
});
