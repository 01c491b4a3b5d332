import type { IntegrationEvent } from '@cardea/contracts';
import { topicOf } from '@cardea/contracts';
import type { Sealer } from '@cardea/crypto';
import type { EventStore, RecordedEvent } from '@cardea/event-store';
import type { Lease } from '@cardea/log-follower';
import type { Database, LeaderLocks } from '@cardea/read-models';
import { type Cache, type Clock, failpoint, type Logger, type Loops, span } from '@cardea/runtime';
import { bell } from '../bell.ts';
import type { Publisher, RelayDefinition } from '../bus.ts';
import type { KindOf } from '../consuming/consumer-core.ts';
import { errorCode, isPassing } from '../consuming/passing-failure.ts';
import { turnUntil } from '../turning.ts';
import { type HeldBack, heldBack } from './held-back.ts';
import { integrationEventsOf, NotPublishable } from './integration-events-of.ts';
import { positionNote } from './position-note.ts';
import { type RelayCheckpoint, relayCheckpoint } from './relay-checkpoint.ts';

/**
 * Sends a log's events to its topic, in the order of the log, at least once each: the checkpoint moves
 * after the topic has them. One process of all relays a log; the others stand by.
 */
export const startRelay = (definition: RelayDefinition, needs: RelayNeeds): RunningRelay => {
  const { clock, locks, log, loops, store } = needs;
  const name = `relay:${definition.log}`;
  const stopped = new AbortController();
  const wake = bell(clock);
  const watch = loops.watch(name);
  const note = positionNote(needs.cache, { log, name: definition.log, clock });
  let lease: Lease | undefined;
  let asked = false;
  let leading: Leading | undefined;

  const ask = (): void => {
    if (asked) return;
    asked = true;
    void locks.hold(name, stopped.signal).then((granted) => {
      lease = granted;
      asked = false;
      if (granted !== undefined) wake.ring();
    });
  };
  const turn = async (): Promise<void> => {
    if (lease === undefined || lease.lost.aborted) {
      leading = undefined;
      ask();
      await wake.rest(STANDBY_MS, stopped.signal);
      return;
    }
    leading ??= await takeLead(definition, needs);
    const isMore = await relaySome(leading);
    watch.degraded(leading.held.size > 0 ? `parked streams: ${leading.held.size}` : undefined);
    note.write(leading.position);
    const restMs = leading.saved < leading.position ? PASSING_SAVE_MS : POLL_MS;
    if (!isMore) await wake.rest(restMs, stopped.signal);
  };
  const turnOrStandDown = async (): Promise<void> => {
    try {
      await turn();
    } catch (error) {
      await settled(leading);
      leading = undefined; // What is in the tables holds, not what we remember.
      throw error;
    }
  };

  const subscribed = store.subscribe(definition.log, wake.ring);
  const turning = turnUntil(stopped.signal, turnOrStandDown, { name, clock, log, watch });
  return {
    stop: async () => {
      stopped.abort();
      await turning;
      await settled(leading);
      if (leading !== undefined) await save(leading).catch(() => {}); // then some is looked at again
      await note.settled();
      await (await subscribed)();
      await lease?.release();
      watch.stop();
    },
  };
};

export type RunningRelay = { stop(): Promise<void> };

export type RelayNeeds = {
  readonly store: EventStore;
  readonly publisher: Publisher;
  /** The service's own database and schema, where streams that cannot be mapped are parked. */
  readonly database: Database;
  readonly schema: string;
  /** Where the relay's checkpoint stands: the topics' database, often the same. */
  readonly bus: Database;
  readonly locks: LeaderLocks;
  readonly cache: Pick<Cache, 'set'>;
  readonly sealer: Pick<Sealer, 'open'>;
  readonly kindOf: KindOf;
  readonly clock: Clock;
  readonly loops: Loops;
  readonly log: Logger;
  readonly counted?: (batch: RelayedBatch) => void;
};

/** For metrics: what a turn has done, and how old its oldest event was. */
export type RelayedBatch = {
  readonly topic: string;
  readonly read: number;
  readonly published: number;
  readonly oldestMs: number;
};

const BATCH_EVENTS_MAX = 500;
const POLL_MS = 1000;
/** How long the checkpoint may lag behind events that say nothing to the topic. */
const PASSING_SAVE_MS = 250;
const STANDBY_MS = 1000;
/** A stream may be mapped again after an upgrade, or when what was away is back. */
const HELD_RETRY_MS = 60_000;

/** What the leading relay knows. */
type Leading = {
  readonly definition: RelayDefinition;
  readonly needs: RelayNeeds;
  readonly topic: string;
  readonly checkpoint: RelayCheckpoint;
  readonly heldBack: HeldBack;
  readonly mapEvent: (event: RecordedEvent) => Promise<readonly IntegrationEvent[]>;
  /** Last event that was relayed: up to here nothing is left to send. */
  position: bigint;
  /** Where the checkpoint stands, or will when `saving` has ended. */
  saved: bigint;
  savedAtMs: number;
  held: Map<string, bigint>;
  retriedAtMs: number;
  /** The next batch, read and mapped while this one is on its way. */
  ahead: Promise<Prepared> | undefined;
  /** The checkpoint of the batch before, on its way to the table while the next one is sent. */
  saving: Promise<void>;
};

type Prepared = {
  readonly events: readonly RecordedEvent[];
  readonly outgoing: IntegrationEvent[];
};

const takeLead = async (definition: RelayDefinition, needs: RelayNeeds): Promise<Leading> => {
  const checkpoint = relayCheckpoint(needs.bus, definition.log);
  const held = heldBack(needs.database, needs.schema, definition.log);
  const { position, logEpoch } = await checkpoint.load();
  return {
    definition,
    needs,
    topic: topicOf(definition.log),
    checkpoint,
    heldBack: held,
    mapEvent: integrationEventsOf({ ...needs, map: definition.map, logEpoch }),
    position,
    saved: position,
    savedAtMs: Number.NEGATIVE_INFINITY,
    held: new Map(await held.list()),
    retriedAtMs: Number.NEGATIVE_INFINITY,
    ahead: undefined,
    saving: Promise.resolve(),
  };
};

/** What was begun ahead has ended, well or not. */
const settled = async (leading: Leading | undefined): Promise<void> => {
  await Promise.allSettled([leading?.ahead, leading?.saving]);
};

/** One batch; true when there is more. */
const relaySome = async (leading: Leading): Promise<boolean> => {
  const { needs, topic } = leading;
  await retryHeldBack(leading);
  const { events, outgoing } = await (leading.ahead ?? prepare(leading, leading.position));
  leading.ahead = undefined;
  const last = events.at(-1);
  if (last === undefined) {
    await save(leading);
    return false;
  }
  const isFull = events.length === BATCH_EVENTS_MAX;
  if (isFull) leading.ahead = begun(prepare(leading, last.position));
  if (outgoing.length > 0) {
    await span('relay', () => needs.publisher.publish(topic, outgoing), {
      attributes: { topic, events: outgoing.length },
      links: outgoing.map(({ traceparent }) => traceparent),
    });
  }
  await failpoint('relay.after_publish');
  leading.position = last.position;
  await failpoint('relay.before_checkpoint');
  await leading.saving;
  const isDue = needs.clock.monotonicMs() - leading.savedAtMs >= PASSING_SAVE_MS;
  if (isFull || isDue || outgoing.length > 0) leading.saving = begun(save(leading));
  if (!isFull) await leading.saving;
  const oldestMs = needs.clock.now().getTime() - (events[0]?.time.getTime() ?? 0);
  needs.counted?.({ topic, read: events.length, published: outgoing.length, oldestMs });
  return isFull;
};

const save = async (leading: Leading): Promise<void> => {
  const { checkpoint, needs, position, saved } = leading;
  if (saved === position) return;
  leading.saved = position;
  leading.savedAtMs = needs.clock.monotonicMs();
  await checkpoint.save(position);
};

const prepare = async (leading: Leading, after: bigint): Promise<Prepared> => {
  const { needs, definition, held } = leading;
  const events = await needs.store.followLog(definition.log, after, BATCH_EVENTS_MAX);
  if (events.length > 0) await failpoint('relay.after_read');
  const outgoing: IntegrationEvent[] = [];
  for (const event of events) {
    // What came before the stop may still have to be sent: a crash can lie between.
    const stoppedAt = held.get(event.streamId);
    if (stoppedAt !== undefined && event.position >= stoppedAt) continue;
    const mapped = await mapOrHold(leading, event);
    if (mapped !== undefined) outgoing.push(...mapped);
  }
  return { events, outgoing };
};

/** Whoever waits for it later hears of its failure; until then nobody does. */
const begun = <T>(work: Promise<T>): Promise<T> => {
  work.catch(() => {});
  return work;
};

const mapOrHold = async (
  leading: Leading,
  event: RecordedEvent,
): Promise<readonly IntegrationEvent[] | undefined> => {
  try {
    return await leading.mapEvent(event);
  } catch (error) {
    if (isPassing(error)) throw error;
    await leading.heldBack.hold(event, errorCode(error));
    leading.held.set(event.streamId, event.position);
    tellHeld(leading, event, error);
    return undefined;
  }
};

const tellHeld = (leading: Leading, event: RecordedEvent, error: unknown): void => {
  const { log, position, type, schemaVersion } = event;
  const faults = error instanceof NotPublishable ? error.message : undefined;
  leading.needs.log.error(
    { relay: log, type, schemaVersion, position: String(position), code: errorCode(error), faults },
    'an event could not be published, its stream is parked',
  );
};

/** Sends what was held back, as far as it can be mapped now, marked so that no consumer takes it as old. */
const retryHeldBack = async (leading: Leading): Promise<void> => {
  const nowMs = leading.needs.clock.monotonicMs();
  if (leading.held.size === 0 || nowMs - leading.retriedAtMs < HELD_RETRY_MS) return;
  leading.retriedAtMs = nowMs;
  // The batch ahead has left out what may be released now.
  await settled(leading);
  leading.ahead = undefined;
  for (const [streamId, from] of [...leading.held]) await retryStream(leading, streamId, from);
};

const retryStream = async (leading: Leading, streamId: string, from: bigint): Promise<void> => {
  const { needs, topic, heldBack: held } = leading;
  // A checkpoint that a crash set back comes by again; sent as new, the events would look old to consumers.
  if (from > leading.position) return;
  const waiting = (await needs.store.readStream(streamId)).filter(
    ({ position }) => position >= from && position <= leading.position,
  );
  const outgoing: IntegrationEvent[] = [];
  let stopsAt: { event: RecordedEvent; errorCode: string } | undefined;
  for (const event of waiting) {
    try {
      outgoing.push(...(await leading.mapEvent(event)));
    } catch (error) {
      if (isPassing(error)) throw error;
      stopsAt = { event, errorCode: errorCode(error) };
      break;
    }
  }
  if (stopsAt?.event.position === from) return;
  await needs.publisher.publish(
    topic,
    outgoing.map((event) => ({ ...event, released: true as const })),
  );
  await held.release(streamId, stopsAt);
  if (stopsAt === undefined) leading.held.delete(streamId);
  else leading.held.set(streamId, stopsAt.event.position);
};
