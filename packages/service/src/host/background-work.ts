/** Starts the background work of a service: projections, relay, policies, consumers, loops, revocations. */
import { dropOnKeysChanged, type MirroredRevocations, type TokenVerifier } from '@cardea/auth';
import { kindOf } from '@cardea/contracts';
import { forgetOldRecords, type RelayDefinition, startRelay } from '@cardea/event-bus';
import { runPolicies, runProjections } from '@cardea/read-models';
import { denialRelay } from '../denials.ts';
import { dayKeyErasure } from '../keys/day-keys.ts';
import { sweeping } from '../limits/sweeping.ts';
import type { Infrastructure } from './infrastructure.ts';
import { runLoop } from './loop-runner.ts';
import type { Part } from './parts.ts';
import { type Running, stopAll } from './running.ts';

/**
 * The longest time for which a starting process waits for its projections to reach the end that each log had at the
 * start.
 */
const CATCH_UP_MS_MAX = 60_000;
const RETENTION_EVERY_MS = 3_600_000;

/**
 * Starts the lists of revoked sessions and keys that have not expired yet. Other processes send their changes, and the
 * cache stores the complete lists.
 */
export async function startRevocationLists(
  marks: MirroredRevocations,
  verifier: TokenVerifier,
  { cache, loops }: Infrastructure,
): Promise<Running> {
  await marks.start();
  const deaf = await dropOnKeysChanged(verifier, cache);
  const watch = loops.watch('revocations');
  const stopped = new AbortController();
  const running = marks.run(
    stopped.signal,
    () => watch.tick(),
    (fault) => watch.degraded(fault),
  );
  return {
    async stop() {
      stopped.abort();
      await running;
      await deaf();
      await marks.stop();
      watch.stop();
    },
  };
}

/** Tables do not delete old records on their own, as Kafka's topics do. */
export function startRetention(shared: Infrastructure): Running {
  const { clock, database, service } = shared;
  // One process per service deletes, because a process may only delete records that its own service published.
  const name = service === undefined ? 'bus-retention' : `bus-retention:${service}`;
  const sweep = async (signal: AbortSignal, tick: () => void): Promise<void> => {
    await forgetOldRecords(database, signal, tick);
  };
  return runLoop(sweeping({ name, everyMs: RETENTION_EVERY_MS, clock, sweep }), shared);
}

export async function startReadSide(part: Part, shared: Infrastructure): Promise<Running> {
  const { definition, needs, positions, service } = part;
  const projections = await runProjections({
    projections: service.projections,
    store: needs.store,
    database: shared.database,
    schema: definition.name,
    leader: shared.locks,
    positions,
    sealer: needs.sealer,
    loops: shared.loops,
    clock: shared.clock,
    log: needs.log,
  });
  return { stop: () => stopAll([{ stop: () => positions.close() }, projections]) };
}

export async function caughtUp({ definition, needs, positions, service }: Part): Promise<void> {
  const head = await needs.store.head(definition.name);
  const names = service.projections.map(({ name }) => name);
  if (await positions.reached(names, head, CATCH_UP_MS_MAX)) return;
  // The projections continue in the background. Readiness and the lag metrics show the lag. Until it is gone, reads are
  // outdated but not wrong.
  needs.log.warn({}, 'projections are still behind after a minute');
}

/** Returns the relay of a service, which also publishes the events of refused requests. */
export function relayOf({ definition, service }: Part): RelayDefinition {
  const relay = { ...service.relay, ...denialRelay };
  return { log: definition.name, map: (event, tools) => relay[event.type]?.(event, tools) };
}

/** Starts relay, policies, consumers and loops of one service. */
export async function startTurning(part: Part, shared: Infrastructure): Promise<Running> {
  const { definition, needs, subscriber, service } = part;
  const { name } = definition;
  const { clock, loops, locks } = shared;
  const log = needs.log;
  const started: Running[] = [];
  started.push(
    startRelay(relayOf(part), {
      store: needs.store,
      publisher: shared.publisher,
      database: shared.database,
      schema: name,
      bus: shared.database,
      locks,
      cache: shared.cache,
      sealer: needs.sealer,
      kindOf,
      clock,
      loops,
      log,
    }),
  );
  started.push(
    await runPolicies({
      policies: service.policies,
      store: needs.store,
      database: shared.database,
      schema: name,
      leader: locks,
      loops,
      clock,
      log,
    }),
  );
  for (const consumer of service.consumers) started.push(await subscriber.run(consumer));
  for (const loop of [...service.loops, dayKeyErasure(definition, needs)]) {
    started.push(runLoop(loop, { loops, clock, log, locks }));
  }
  return { stop: () => stopAll([{ stop: async () => service.stop?.() }, ...started]) };
}
