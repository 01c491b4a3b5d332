import { setTimeout as sleepMs } from 'node:timers/promises';
import { type Clock, currentTraceparent, metrics, span } from '@cardea/runtime';
import {
  attempt,
  attemptMany,
  ownedBy,
  pastOf,
  replayed,
  streamIdOf,
  type Task,
} from './attempt.ts';
import type { Decided, Streams } from './command.ts';
import {
  type DomainEvent,
  type EventStore,
  EventStoreOverloaded,
  EventStoreUnavailable,
  type Stream,
  WriteContention,
} from './event-store.ts';
import { turns } from './turns.ts';

/** Times that a command is decided before it gives up to other writers. */
const ATTEMPTS_MAX = 3;
/** Times that a command is tried while the store cannot be reached or its answer was lost. */
const FAILURES_MAX = 3;
/** A failure that came later than this is not tried again: its caller has waited long enough. */
const RETRY_WITHIN_MS = 1000;
/** The pause behind a conflict is random, up to this much per attempt. */
const CONFLICT_PAUSE_MS = 15;
/** The pause behind a failure, per failure, and as much again by chance. */
const FAILURE_PAUSE_MS = 100;

type Options = {
  readonly clock?: Pick<Clock, 'sleep'>;
  /** From 0 to 1, for the jitter. */
  readonly random?: () => number;
};

/** Commands on one stream take turns in this process, so only other processes can get between. */
export function streams(store: EventStore, options: Options = {}): Streams {
  const inTurn = turns();
  const pause = pauses(options);

  const load = async <State, E extends DomainEvent>(
    stream: Stream<State, E>,
    of: { readonly tenantId: string; readonly id: string },
  ) => {
    const past = await pastOf(store, stream, streamIdOf(stream, of.id), of.tenantId);
    return replayed(stream, past);
  };

  const carriedOut = <State, E extends DomainEvent, Reason extends string>(
    task: Task<State, E, Reason>,
  ) => watched(task, () => inTurn(task.streamId, () => untilDecided(store, task, pause)));

  return {
    load,
    history: async (stream, of) => {
      const events = await store.readStream(streamIdOf(stream, of.id));
      return ownedBy(of.tenantId, events);
    },
    decideOn: (stream, id, command, decide) =>
      carriedOut({ stream, streamId: streamIdOf(stream, id), command, decide }),
    decideOnMany: async (stream, commands) => {
      const tasks = commands.map(({ id, command, decide }) => ({
        stream,
        streamId: streamIdOf(stream, id),
        command,
        decide,
      }));
      const tried = await attemptMany(store, tasks);
      return await Promise.all(
        tasks.map((task, index) => {
          const decided = tried[index];
          if (decided === undefined || decided === 'conflict') return carriedOut(task);
          metrics.commands.inc({ command: stream.noun, outcome: outcomeOf(decided) });
          return decided;
        }),
      );
    },
    decideFrom: (stream, last, command, decide) => {
      if (!stream.stateCarrying) throw new Error(`a ${stream.noun} is more than its last event`);
      return carriedOut({ stream, streamId: last.streamId, command, decide, last });
    },
  };
}

/** What came of a command is counted, and told to whoever follows its trace. */
function watched<State, E extends DomainEvent, Reason extends string>(
  { stream: { noun }, command }: Task<State, E, Reason>,
  decide: () => Promise<Decided<State, E, Reason>>,
): Promise<Decided<State, E, Reason>> {
  const tell = async (current: { setAttribute(name: string, value: string): unknown }) => {
    let outcome = 'failed';
    try {
      const decided = await decide();
      outcome = outcomeOf(decided);
      return decided;
    } finally {
      metrics.commands.inc({ command: noun, outcome });
      current.setAttribute('outcome', outcome);
    }
  };
  // What the command came with counts where nothing nearer is under way, such as a vend.
  const parent = currentTraceparent() ?? command.metadata.traceparent;
  return span(`command ${noun}`, tell, { attributes: { command: noun }, parent });
}

const outcomeOf = <Reason extends string>(
  decided: { readonly accepted: true } | { readonly accepted: false; readonly reason: Reason },
): string => (decided.accepted ? 'accepted' : decided.reason);

async function untilDecided<State, E extends DomainEvent, Reason extends string>(
  store: EventStore,
  task: Task<State, E, Reason>,
  pause: ReturnType<typeof pauses>,
): Promise<Decided<State, E, Reason>> {
  const { last: _last, ...again } = task;
  let conflicts = 0;
  let failures = 0;
  const start = performance.now();
  while (true) {
    try {
      const decided = await attempt(store, conflicts + failures === 0 ? task : again);
      if (decided !== 'conflict') return decided;
      conflicts++;
      if (conflicts === ATTEMPTS_MAX) throw new WriteContention(`writers meet on ${task.streamId}`);
      await pause.afterConflict(conflicts);
    } catch (error) {
      // Whether a lost append was stored is unknown; the same event ids make the next try safe.
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
