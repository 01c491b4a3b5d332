import { setTimeout as sleepMs } from 'node:timers/promises';
import { type Clock, currentTraceparent, metrics, span, systemClock } from '@cardea/runtime';
import { decideOnce, decideOnceOnMany } from './appends/decide-once.ts';
import { changeLimit, turns } from './appends/limits.ts';
import type { Decided, Streams } from './command.ts';
import {
  type DomainEvent,
  type EventStore,
  EventStoreOverloaded,
  EventStoreUnavailable,
  type RecordedEvent,
  streamIdOf,
  WriteContention,
} from './event-store.ts';
import { type DecideDependencies, ownedBy, type Task } from './grounds.ts';
import { ofTenant, type SnapshotCache, snapshotCache, snapshotsOf } from './states/snapshots.ts';
import { streamPages } from './states/stream-pages.ts';

/** How often a command is decided before it gives up because of other writers. */
const CONFLICTS_MAX = 3;
/** How often a command is tried while the store is unavailable or its response was lost. */
const FAILURES_MAX = 3;
/** After this time a failed command is not tried again: its caller has waited long enough. */
const RETRY_WITHIN_MS = 1000;
/** The pause after a conflict is random, up to this much per conflict. */
const CONFLICT_PAUSE_MS = 15;
/** The pause after a failure, per failure, plus a random part of the same size. */
const FAILURE_PAUSE_MS = 100;

type Options = {
  readonly clock?: Pick<Clock, 'monotonicMs' | 'sleep'>;
  /** Returns a number from 0 to 1, for the random part of pauses. */
  readonly random?: () => number;
  /** The process's cache. By default a separate one. */
  readonly snapshots?: SnapshotCache;
};

/** Commands on one stream run one after another in this process, so only other processes can cause conflicts. */
export function streams(store: EventStore, options: Options = {}): Streams {
  const inTurn = turns();
  const pause = pauses(options);
  const needs: DecideDependencies = { store, snapshots: options.snapshots ?? snapshotCache() };

  const limit = changeLimit(store.log, options.clock ?? systemClock);

  const by: Deciding = { needs, limit, inTurn, pause };

  return {
    load: async (stream, { tenantId, id }) => {
      const [found] = await snapshotsOf(needs, [{ stream, id }]);
      return ofTenant(stream, found, tenantId);
    },
    find: async (stream, id) => {
      const [found] = await snapshotsOf(needs, [{ stream, id }]);
      return found && { ...ofTenant(stream, found, found.tenantId), tenantId: found.tenantId };
    },
    guess: (stream, { tenantId, id }) => {
      const cached = needs.snapshots.get(store.log, streamIdOf(stream, id), stream);
      return ofTenant(stream, cached, tenantId).state;
    },
    lastSeen: (stream, id) => {
      const cached = needs.snapshots.get(store.log, streamIdOf(stream, id), stream);
      return cached && { ...ofTenant(stream, cached, cached.tenantId), tenantId: cached.tenantId };
    },
    history: async (stream, of) => {
      const events: RecordedEvent[] = [];
      for await (const page of streamPages(store, streamIdOf(stream, of.id))) events.push(...page);
      return ownedBy(of.tenantId, events);
    },
    decideOn: (stream, id, command, rule) =>
      carriedOut(by, {
        stream,
        streamId: streamIdOf(stream, id),
        command,
        ...(typeof rule === 'function' ? { decide: rule } : rule),
      }),
    decideOnBasis: (stream, id, command, { restsOn, decide, ...rule }) => {
      const named = Object.entries(restsOn).flatMap(([name, at]) => (at ? [{ name, ...at }] : []));
      type States = Parameters<typeof decide>[1];
      return carriedOut(by, {
        stream,
        streamId: streamIdOf(stream, id),
        command,
        ...rule,
        restsOn: named,
        decide: (state, _revision, basis) => {
          const states = Object.fromEntries(named.map(({ name }, at) => [name, basis[at]]));
          return decide(state, states as States);
        },
      });
    },
    decideOnMany: async (stream, commands) => {
      const tasks = commands.map(({ id, ...rest }) => ({
        stream,
        streamId: streamIdOf(stream, id),
        ...rest,
      }));
      for (const task of tasks) limit.check(task);
      const tried = await decideOnceOnMany(needs, tasks);
      return await Promise.all(
        tasks.map((task, index) => {
          const decided = tried[index];
          if (decided === undefined || typeof decided === 'string')
            return carriedOut(by, task, true);
          metrics.commands.inc({ command: stream.noun, outcome: outcomeOf(decided) });
          limit.changed(task, decided);
          return decided;
        }),
      );
    },
  };
}

type Deciding = {
  readonly needs: DecideDependencies;
  readonly limit: ReturnType<typeof changeLimit>;
  readonly inTurn: ReturnType<typeof turns>;
  readonly pause: ReturnType<typeof pauses>;
};

/** Counts the command's outcome and adds it to its trace. */
function carriedOut<State, E extends DomainEvent, Reason extends string>(
  { needs, limit, inTurn, pause }: Deciding,
  task: Task<State, E, Reason>,
  fresh = false,
): Promise<Decided<State, E, Reason>> {
  const { noun } = task.stream;
  const tell = async (current: { setAttribute(name: string, value: string): unknown }) => {
    let outcome = 'failed';
    try {
      const decided = await inTurn(task.streamId, async () => {
        limit.check(task);
        return await untilDecided(needs, { task, fresh }, pause);
      });
      limit.changed(task, decided);
      outcome = outcomeOf(decided);
      return decided;
    } finally {
      metrics.commands.inc({ command: noun, outcome });
      current.setAttribute('outcome', outcome);
    }
  };
  // The command's own traceparent is used if no closer span is active, such as that of vending.
  const parent = currentTraceparent() ?? task.command.metadata.traceparent;
  return span(`command ${noun}`, tell, { attributes: { command: noun }, parent });
}

const outcomeOf = <Reason extends string>(
  decided: { readonly accepted: true } | { readonly accepted: false; readonly reason: Reason },
): string => (decided.accepted ? 'accepted' : decided.reason);

async function untilDecided<State, E extends DomainEvent, Reason extends string>(
  needs: DecideDependencies,
  { task, fresh: isFresh }: { readonly task: Task<State, E, Reason>; readonly fresh: boolean },
  pause: ReturnType<typeof pauses>,
): Promise<Decided<State, E, Reason>> {
  let fresh = isFresh;
  let conflicts = 0;
  let failures = 0;
  const start = performance.now();
  while (true) {
    try {
      const decided = await decideOnce(needs, task, fresh);
      if (typeof decided === 'object') return decided;
      fresh = true;
      if (decided === 'assumed') continue;
      conflicts++;
      if (conflicts === CONFLICTS_MAX)
        throw new WriteContention(`writers meet on ${task.streamId}`);
      await pause.afterConflict(conflicts);
    } catch (error) {
      fresh = true;
      // It is unknown whether the append was stored. With the same event ids the next try is safe.
      const lost =
        error instanceof EventStoreUnavailable && !(error instanceof EventStoreOverloaded);
      failures++;
      const late = performance.now() - start > RETRY_WITHIN_MS;
      if (!lost || late || failures === FAILURES_MAX) throw error;
      await pause.afterFailure(failures);
    }
  }
}

function pauses({ clock, random = Math.random }: Options) {
  const sleep = clock === undefined ? (ms: number) => sleepMs(ms) : (ms: number) => clock.sleep(ms);
  return {
    afterConflict: (conflicts: number) => sleep(random() * CONFLICT_PAUSE_MS * conflicts),
    afterFailure: (failures: number) => sleep((1 + random()) * FAILURE_PAUSE_MS * failures),
  };
}
