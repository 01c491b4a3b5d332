import { idleCheckpoints, LogFollower, openLogReader } from '@cardea/log-follower';
import { pacing } from '@cardea/runtime';
import type { RelayDefinition } from '../bus.ts';
import { positionNote } from './position-note.ts';
import { relayCheckpoint } from './relay-checkpoint.ts';
import type { RelayDependencies } from './relay-dependencies.ts';
import { relaySink } from './relay-sink.ts';

/** If new events publish nothing, the checkpoint is stored only this often. */
const IDLE_STORE_MS = 250;
/** How often the position is written for other processes. The shared cache may have lost its content. */
const SHARED_CACHE_WAIT_MS = 1000;

/**
 * Sends a log's events to its topic in the order of the log, each at least once: the checkpoint moves after the topic
 * has them. Only one process relays a log; the others are on standby.
 */
export const startRelay = (definition: RelayDefinition, needs: RelayDependencies): RunningRelay => {
  const { clock, loops, store, schema, locks: leases } = needs;
  const name = `relay:${definition.log}`;
  const log = needs.log.child({ relay: definition.log });
  const stopped = new AbortController();
  const watch = loops.watch(name);
  const note = positionNote(needs.cache, { log, name: definition.log, clock });
  const stored = relayCheckpoint(needs.bus, definition.log);
  const idle = idleCheckpoints({
    clock,
    delayMs: () => IDLE_STORE_MS,
    store: async (moves) => {
      for (const { to } of moves.values()) await stored.save(to);
      return new Set(moves.keys());
    },
  });
  const sink = relaySink({ definition, needs, stored, idle, note });
  const pace = pacing(clock).next;
  const lead = { leases, lease: name, parkedNotice: `${schema} ${name}` };
  const follow = async (): Promise<void> => {
    const reader = await openLogReader(store, definition.log, { clock });
    const rest = needs.cache.mode === 'redis' ? { idleWaitMs: SHARED_CACHE_WAIT_MS } : {};
    const by = { name, reader, clock, log, watch, lead, pace, ...rest };
    await new LogFollower(sink, by).run(stopped.signal);
    await reader.close();
  };
  const followed = follow();
  return {
    stop: async () => {
      stopped.abort();
      await followed;
      await note.settled();
      watch.stop();
    },
  };
};

export type RunningRelay = { stop(): Promise<void> };
