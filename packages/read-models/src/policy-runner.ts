/**
 * Event in, command out: each policy of a service reads the service's log behind a checkpoint of its own,
 * in order per stream, in one process at a time. An event that it cannot handle parks its stream.
 */
import type { EventStore, RecordedEvent } from '@cardea/event-store';
import type { Clock, Logger, Loops, LoopWatch } from '@cardea/runtime';
import type { Database } from './database.ts';
import { errorCode } from './database-errors.ts';
import type { LeaderLocks } from './leader-locks.ts';
import { type LogReader, openLogReader } from './log-reader.ts';
import { PARKED_CHANNEL } from './parked-streams.ts';
import {
  type ParkedByPolicy,
  PolicyCheckpoint,
  type PolicyStanding,
  policyOwner,
} from './policy-checkpoint.ts';
import { Fenced } from './projector.ts';
import { becomeActive } from './standby.ts';

const CONCURRENCY_MAX = 8;
const ATTEMPTS_MAX = 5;
const RETRY_MIN_MS = 50;
const BACK_OFF_MIN_MS = 100;
const BACK_OFF_MAX_MS = 5000;
const IDLE_WAIT_MS = 5000;
/** A checkpoint that moved over nothing but foreign events is written this often at most. */
const CHECKPOINT_EVERY_MS = 5000;

/** The same as a service's own type `Policy`. */
export type EventPolicy = {
  readonly name: string;
  /** Types of the service's own private events that it listens to. */
  readonly on: readonly string[];
  /** Must be repeatable: derive command ids from the event's id. A throw parks the event's stream. */
  readonly handle: (event: RecordedEvent) => Promise<void>;
};

export type PolicyRunnerOptions = {
  readonly policies: readonly EventPolicy[];
  readonly store: EventStore;
  readonly database: Database;
  readonly schema: string;
  readonly leader: LeaderLocks;
  readonly loops: Loops;
  readonly clock: Clock;
  readonly log: Logger;
};

export interface RunningPolicies {
  /** Finishes what is in hand. */
  stop(): Promise<void>;
}

export async function runPolicies(options: PolicyRunnerOptions): Promise<RunningPolicies> {
  const stop = new AbortController();
  const reader = await openLogReader(options.store, options.store.log, options.clock);
  const running = options.policies.map((policy) => new PolicyRunner(options, policy, reader));
  const ended = Promise.all(running.map((runner) => runner.run(stop.signal)));
  return {
    stop: async () => {
      stop.abort();
      await ended;
      await reader.close();
    },
  };
}

/** These say nothing about the event: whoever is away will be back. */
const OUTAGES: ReadonlySet<string> = new Set([
  'DatabaseUnavailable',
  'EventStoreUnavailable',
  'EventStoreOverloaded',
  'CacheUnavailable',
  'WriteContention',
]);

type Outcome = 'handled' | 'stopped' | { readonly errorCode: string };

class PolicyRunner {
  readonly #options: PolicyRunnerOptions;
  readonly #policy: EventPolicy;
  readonly #types: ReadonlySet<string>;
  readonly #reader: LogReader;
  readonly #checkpoint: PolicyCheckpoint;
  readonly #watch: LoopWatch;
  readonly #log: Logger;
  /** Someone released a stream: what this runner knows of parked streams is old. */
  #stale = false;
  #nudge = new AbortController();
  #failing: string | undefined;

  constructor(options: PolicyRunnerOptions, policy: EventPolicy, reader: LogReader) {
    const name = `${options.schema}.${policy.name}`;
    this.#options = options;
    this.#policy = policy;
    this.#types = new Set(policy.on);
    this.#reader = reader;
    this.#checkpoint = new PolicyCheckpoint(options.database, options.schema, policy.name);
    this.#watch = options.loops.watch(`policy:${name}`);
    this.#log = options.log.child({ policy: name });
  }

  async run(stop: AbortSignal): Promise<void> {
    const { leader, schema, clock } = this.#options;
    const mine = `${schema} ${policyOwner(this.#policy.name)}`;
    const silence = leader.listen(PARKED_CHANNEL, (payload) => {
      if (payload !== undefined && payload !== mine) return;
      this.#stale = true;
      this.#nudge.abort();
    });
    while (!stop.aborted) {
      const name = `policy:${schema}.${this.#policy.name}`;
      const lease = await becomeActive({ leader, clock, watch: this.#watch }, name, stop);
      if (lease === undefined) break;
      await this.#runActive(AbortSignal.any([stop, lease.lost]));
      await lease.release();
    }
    silence();
    this.#watch.stop();
  }

  async #runActive(signal: AbortSignal): Promise<void> {
    let backOffMs = BACK_OFF_MIN_MS;
    while (!signal.aborted) {
      try {
        this.#watch.tick();
        this.#stale = false;
        this.#nudge = new AbortController();
        const standing = await this.#checkpoint.read();
        this.#report(standing);
        await this.#follow(standing, AbortSignal.any([signal, this.#nudge.signal]));
        backOffMs = BACK_OFF_MIN_MS;
      } catch (error) {
        if (error instanceof Fenced) continue; // read again where it stands
        this.#fail(errorCode(error));
        await this.#options.clock.sleep(backOffMs, signal);
        backOffMs = Math.min(backOffMs * 2, BACK_OFF_MAX_MS);
      }
    }
  }

  async #follow(standing: PolicyStanding, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    let read = standing.position;
    let writtenMs = clock.monotonicMs();
    while (!signal.aborted && !this.#stale) {
      this.#watch.tick();
      const page = await this.#reader.page(read);
      const last = page.events.at(-1);
      if (last === undefined) {
        await this.#reader.changed(page.generation, IDLE_WAIT_MS, signal);
        continue;
      }
      const mine = page.events.filter((event) => this.#types.has(event.type));
      const parked = await this.#handleAll(mine, standing, signal);
      if (parked === undefined) return; // stopped half-way: whoever goes on repeats the page
      read = last.position;
      if (mine.length === 0 && clock.monotonicMs() - writtenMs < CHECKPOINT_EVERY_MS) continue;
      await this.#checkpoint.move(standing, read, parked);
      writtenMs = clock.monotonicMs();
      this.#report(standing);
    }
    if (read > standing.position) await this.#checkpoint.move(standing, read, []);
  }

  /** Streams side by side, the events of one in order. Answers what is to be parked. */
  async #handleAll(
    events: readonly RecordedEvent[],
    standing: PolicyStanding,
    signal: AbortSignal,
  ): Promise<readonly ParkedByPolicy[] | undefined> {
    const streams = [...Map.groupBy(events, (event) => event.streamId).values()];
    const parked: ParkedByPolicy[] = [];
    let stopped = false;
    const work = async (): Promise<void> => {
      for (let stream = streams.shift(); stream !== undefined; stream = streams.shift()) {
        const mine = await this.#handleStream(stream, standing, signal);
        if (mine === undefined) stopped = true;
        else parked.push(...mine);
      }
    };
    await Promise.all(Array.from({ length: Math.min(CONCURRENCY_MAX, streams.length) }, work));
    return stopped ? undefined : parked;
  }

  async #handleStream(
    events: readonly RecordedEvent[],
    standing: PolicyStanding,
    signal: AbortSignal,
  ): Promise<readonly ParkedByPolicy[] | undefined> {
    const parked: ParkedByPolicy[] = [];
    for (const event of events) {
      if (standing.parked.has(event.streamId) || parked.length > 0) {
        parked.push({ event, errorCode: null });
        continue;
      }
      const outcome = await this.#handle(event, signal);
      if (outcome === 'stopped') return undefined;
      if (outcome !== 'handled') parked.push({ event, errorCode: outcome.errorCode });
    }
    return parked;
  }

  /** An outage is waited out, however long; anything else is tried a few times. */
  async #handle(event: RecordedEvent, signal: AbortSignal): Promise<Outcome> {
    let backOffMs = RETRY_MIN_MS;
    let failures = 0;
    while (!signal.aborted) {
      try {
        await this.#policy.handle(event);
        return 'handled';
      } catch (error) {
        const code = errorCode(error);
        if (error instanceof Error && OUTAGES.has(error.name)) this.#fail(code);
        else failures += 1;
        if (failures === ATTEMPTS_MAX) {
          const fields = { stream_id: event.streamId, event_type: event.type, code };
          this.#log.error(fields, 'stream parked');
          return { errorCode: code };
        }
      }
      this.#watch.tick();
      await this.#options.clock.sleep(backOffMs, signal);
      backOffMs = Math.min(backOffMs * 2, BACK_OFF_MAX_MS);
    }
    return 'stopped';
  }

  #fail(code: string): void {
    this.#watch.tick();
    if (this.#failing !== code) this.#log.warn({ code }, 'policy cannot get on');
    this.#failing = code;
    this.#watch.degraded(`cannot get on: ${code}`);
  }

  #report(standing: PolicyStanding): void {
    if (this.#failing !== undefined) this.#log.info({}, 'policy gets on again');
    this.#failing = undefined;
    const parked = standing.parked.size;
    this.#watch.degraded(parked > 0 ? `parked streams: ${parked}` : undefined);
  }
}
