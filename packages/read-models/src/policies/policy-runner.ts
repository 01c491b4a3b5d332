/** Runs the policies of a service: each is a sink of a follower of the service's log. */
import type { EventStore } from '@cardea/event-store';
import {
  type IdleCheckpoints,
  idleCheckpoints,
  LogFollower,
  type LogReader,
  moveCheckpoints,
  openLogReader,
  ownerOf,
} from '@cardea/log-follower';
import type { Database, ProcessSession } from '@cardea/postgres';
import type { Clock, Logger, Loops } from '@cardea/runtime';
import { type EventPolicy, policySink } from './policy-sink.ts';

/** How often the checkpoint is stored. Events that were handled since are repeated after a crash. */
const IDLE_STORE_MS = 5000;

export type PolicyRunnerOptions = {
  readonly policies: readonly EventPolicy[];
  readonly store: EventStore;
  readonly database: Database;
  readonly schema: string;
  readonly leader: ProcessSession;
  readonly loops: Loops;
  readonly clock: Clock;
  readonly log: Logger;
};

export interface RunningPolicies {
  /** Finishes the current batch. */
  stop(): Promise<void>;
}

export async function runPolicies(options: PolicyRunnerOptions): Promise<RunningPolicies> {
  const { policies, store, database, schema, clock } = options;
  const stop = new AbortController();
  const reader = await openLogReader(store, store.log, { clock });
  const idle = idleCheckpoints({
    clock,
    delayMs: () => IDLE_STORE_MS,
    store: (moves) => moveCheckpoints(database.system, { schema, kind: 'policy' }, moves),
  });
  const running = policies.map((policy) => runOne(options, policy, { reader, idle }));
  const ended = Promise.all(running.map((run) => run(stop.signal)));
  return {
    stop: async () => {
      stop.abort();
      await ended;
      await reader.close();
    },
  };
}

function runOne(
  options: PolicyRunnerOptions,
  policy: EventPolicy,
  { reader, idle }: { readonly reader: LogReader; readonly idle: IdleCheckpoints },
) {
  const { database, schema, leader: leases, loops, clock } = options;
  const of = { schema, kind: 'policy' as const, name: policy.name };
  const lease = `policy:${schema}.${policy.name}`;
  const watch = loops.watch(lease);
  const log = options.log.child({ policy: `${schema}.${policy.name}` });
  const sink = policySink({ policy, of, database, idle, watch, clock, log });
  const lead = { leases, lease, parkedNotice: `${schema} ${ownerOf(of)}` };
  const follower = new LogFollower(sink, { name: policy.name, reader, clock, log, watch, lead });
  return (stop: AbortSignal) => follower.run(stop).finally(() => watch.stop());
}
