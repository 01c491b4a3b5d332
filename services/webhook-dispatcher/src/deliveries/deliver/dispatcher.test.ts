import { inMemorySubjectKeys, neverErased, sealer, wrapKeys } from '@cardea/crypto';
import { streams } from '@cardea/event-store';
import type { Outbound, OutboundAnswer } from '@cardea/http';
import { DatabaseUnavailable } from '@cardea/read-models';
import { fakeClock, secret, systemRandom, uuidV7Ids } from '@cardea/runtime';
import { inMemoryEventStore, inMemoryLogs, silentLogger, untilTrue } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { issueSecret, readKeys } from '../../adapters/signing.ts';
import type { IndexedWebhook, WebhookIndex } from '../../webhooks/webhook-index.ts';
import { deliveries, streamOf } from '../delivery.ts';
import type { Claimed, Queue } from '../queue.ts';
import { schedule } from '../schedule-delivery.ts';
import { Dispatcher } from './dispatcher.ts';

const ID = '0198f3c2-0000-7000-8000-000000000001';
const TENANT = 't';
const SECOND = 1_000;
const LOOKS_MAX = 10;

/** One due delivery, a receiver that answers 200, and a projection that applies nothing until the test allows it. */
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
  const body = neverErased(await seals.seal(TENANT, place, '{}'));
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
  const world = {
    projected: false,
    sent: 0,
    lost: 0,
    away: false,
    releaseMs: 0,
    behind: false,
    rowLocked: false,
    /** Undefined while projections run. */
    looksAfterTheirEnd: undefined as number | undefined,
  };
  const queue: Queue = {
    claim: async ({ now, leaseUntil }) => {
      const isDue = !world.projected && leaseEndMs <= now.getTime();
      if (isDue) leaseEndMs = leaseUntil.getTime();
      if (world.lost > 0) {
        world.lost -= 1;
        throw new DatabaseUnavailable('the answer was lost');
      }
      return { claimed: isDue ? [due] : [], nextAt: undefined, isMoreDue: false };
    },
    renew: async (held, _owner, until) => {
      if (held.includes(ID)) leaseEndMs = until.getTime();
    },
    release: async () => {
      if (world.away) throw new DatabaseUnavailable('away');
      if (world.rowLocked) return false;
      leaseEndMs = 0;
      await clock.sleep(world.releaseMs);
      return true;
    },
    releaseAllBut: async (held) => {
      if (world.away) throw new DatabaseUnavailable('away');
      if (held.includes(ID)) return true;
      if (!world.rowLocked) leaseEndMs = 0;
      return !world.rowLocked;
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
    reached: async () => !world.away && !world.behind,
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
        if (world.looksAfterTheirEnd !== undefined) {
          world.looksAfterTheirEnd += 1;
          if (world.looksAfterTheirEnd > LOOKS_MAX) throw new Error('asks without a pause');
          return false;
        }
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

  it('lets timers and signals through where projections stopped before it', async () => {
    const { clock, dispatcher, world } = await oneDelivery();
    world.looksAfterTheirEnd = 0;
    const stop = new AbortController();
    const running = dispatcher.run(stop.signal, () => undefined);
    for (let second = 0; second < 4; second++) await clock.advance(SECOND);
    expect(world.sent).toBe(1);
    expect(world.looksAfterTheirEnd).toBeGreaterThan(1);
    expect(world.looksAfterTheirEnd).toBeLessThan(LOOKS_MAX);
    world.projected = true;
    world.looksAfterTheirEnd = undefined;
    stop.abort();
    await clock.advance(60 * SECOND);
    await running;
  });

  /** Runs turns as the loop does: after a failure the next turn starts. */
  const turning = (
    { clock, dispatcher }: Pick<World, 'clock' | 'dispatcher'>,
    signal: AbortSignal,
  ): Promise<unknown> => {
    const again = async (turn: (until: AbortSignal, tick: () => void) => Promise<void>) => {
      while (!signal.aborted) {
        await turn(signal, () => undefined).catch(() => undefined);
        await clock.sleep(SECOND, signal);
      }
    };
    return Promise.all([
      again((until, tick) => dispatcher.run(until, tick)),
      again((until, tick) => dispatcher.renew(until, tick)),
    ]);
  };

  it.each([
    ['the answer of a claim was lost', { lost: 2 }],
    ['it could neither be sent nor be released', { away: true }],
    ['its row was locked when it was to be released', { behind: true, rowLocked: true }],
  ])('releases what it does not hold as soon as the database answers: %s', async (_, fault) => {
    const { clock, dispatcher, world } = await oneDelivery();
    Object.assign(world, fault);
    const stop = new AbortController();
    const running = turning({ clock, dispatcher }, stop.signal);
    for (let second = 0; second < 4; second++) await clock.advance(SECOND);
    Object.assign(world, { away: false, behind: false, rowLocked: false });
    for (let second = 0; second < 4; second++) await clock.advance(SECOND);
    expect(world.sent).toBe(1);
    world.projected = true;
    stop.abort();
    await clock.advance(60 * SECOND);
    await running;
  });

  it('releases what it claimed again before it heard that it was released', async () => {
    const { clock, dispatcher, world } = await oneDelivery();
    Object.assign(world, { behind: true, releaseMs: 3 * SECOND });
    const stop = new AbortController();
    const running = turning({ clock, dispatcher }, stop.signal);
    for (let second = 0; second < 2; second++) await clock.advance(SECOND);
    world.behind = false;
    for (let second = 0; second < 8; second++) await clock.advance(SECOND);
    expect(world.sent).toBe(1);
    world.projected = true;
    stop.abort();
    await clock.advance(60 * SECOND);
    await running;
  });

  it('keeps in hand what was sent and is not shown yet, though a claim was lost meanwhile', async () => {
    const { clock, dispatcher, world } = await oneDelivery();
    const stop = new AbortController();
    const running = turning({ clock, dispatcher }, stop.signal);
    await untilTrue(() => world.sent === 1);
    world.lost = 1;
    for (let second = 0; second < 90; second++) await clock.advance(SECOND);
    expect([world.sent, world.lost]).toEqual([1, 0]);
    world.projected = true;
    stop.abort();
    await clock.advance(60 * SECOND);
    await running;
  });
});

type World = Awaited<ReturnType<typeof oneDelivery>>;
