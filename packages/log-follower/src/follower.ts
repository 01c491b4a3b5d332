/**
 * The one follower of a log. It reads a batch, lets its sink apply it together with the checkpoint, and
 * tells who waits. What it feeds is a sink: a projection, a policy, the relay, an index in memory.
 *
 * One process of all follows under a lease; the others stand by. What fails is one of two things (see
 * `failures.ts`): an outage, after which everything that is remembered is dropped, the checkpoint read
 * again and the batch tried again, with a pause that grows to 5 s; or an event that cannot be applied,
 * whose stream the sink parks, while all others flow. Nothing is skipped, and nothing holds up the rest.
 */
import type { RecordedEvent } from '@cardea/event-store';
import type { Clock, Logger, LoopWatch } from '@cardea/runtime';
import { type Checkpoint, Fenced } from './checkpoint.ts';
import type { IdleCheckpoints } from './idle-checkpoints.ts';
import { becomeActive, type Lease, type Leases } from './lease.ts';
import { type LogReader, PAGE_EVENTS_MAX } from './log-reader.ts';
import { PARKED_CHANNEL } from './parked-events.ts';
import { runUntil, type Turn } from './run-until.ts';

const IDLE_WAIT_MS = 5000;
const STANDBY_MS = 1000;
const LAG_DEGRADED_MS = 60_000;
/** A parked stream may be mended by whoever has no way to tell: the checkpoint is read again. */
const PARKED_LOOK_MS = 60_000;

export type Batch<Prepared> = {
  readonly events: readonly RecordedEvent[];
  readonly prepared: Prepared;
  /** Position of the last event. */
  readonly through: bigint;
  /** More events wait. */
  readonly isFull: boolean;
};

/** What becomes of the events. Any throw that is not {@link Fenced} is told and tried again. */
export interface Sink<Prepared = undefined> {
  /** Where it stands, by what is stored: what was remembered may be wrong. */
  load(): Promise<Checkpoint>;
  /** What can be done of a batch while the one before it is being applied. */
  prepare(events: readonly RecordedEvent[], checkpoint: Checkpoint): Promise<Prepared>;
  /** True when the batch changes nothing here, so that only the checkpoint moves, late, by `idle`. */
  isIdle(batch: Batch<Prepared>, checkpoint: Checkpoint): boolean;
  /** Effects and checkpoint, together or not at all; parks what cannot be applied, throws an outage. */
  apply(batch: Batch<Prepared>, checkpoint: Checkpoint, signal: AbortSignal): Promise<void>;
  /** Where checkpoints over idle batches are stored. */
  readonly idle?: IdleCheckpoints;
  /** Everything up to the position has taken effect, these events last. */
  moved?(position: bigint, events: readonly RecordedEvent[]): void;
  /** The log held nothing more when it was asked. */
  atEnd?(askedAtMs: number): Promise<void> | void;
  /** Waits for what `apply` has left under way. */
  settle?(): Promise<void>;
}

export type FollowerDependencies = {
  /** Of its checkpoint, where one is stored. */
  readonly name: string;
  readonly reader: LogReader;
  readonly clock: Clock;
  readonly log: Logger;
  readonly watch: Pick<LoopWatch, 'tick' | 'degraded'>;
  /** Without: every process follows for itself. `parkedNotice`: what a release tells. */
  readonly lead?: {
    readonly leases: Leases;
    readonly lease: string;
    readonly parkedNotice: string;
  };
  /** How long to wait for a notice before looking. */
  readonly idleWaitMs?: number;
};

type Read<Prepared> = Batch<Prepared> & {
  readonly generation: number;
  readonly askedAtMs: number;
};

type Active<Prepared> = {
  readonly checkpoint: Checkpoint;
  /** Aborts at the stop, when the lease is lost, and when what is known here is old. */
  readonly until: AbortSignal;
  readonly loadedAtMs: number;
  /** Everything up to here was applied or passed; what is stored may lag. */
  passed: bigint;
  next: Promise<Read<Prepared>> | undefined;
};

export class LogFollower<Prepared = undefined> {
  readonly #sink: Sink<Prepared>;
  readonly #needs: FollowerDependencies;
  #lease: Lease | undefined;
  #active: Active<Prepared> | undefined;
  /** Aborted when what this process knows of its checkpoint is old. */
  #outdated = new AbortController();
  /** Events whose commit was not answered: they count as committed once the checkpoint says so. */
  #unanswered: readonly RecordedEvent[] = [];
  #degraded: string | undefined;

  constructor(sink: Sink<Prepared>, needs: FollowerDependencies) {
    this.#sink = sink;
    this.#needs = needs;
  }

  /** Undefined in a process that stands by. */
  get checkpoint(): Checkpoint | undefined {
    return this.#active?.checkpoint;
  }

  /** Until the signal aborts; finishes the batch in hand. */
  async run(stop: AbortSignal): Promise<void> {
    const { lead } = this.#needs;
    const unlisten = lead?.leases.listen(PARKED_CHANNEL, (payload) => {
      if (payload === undefined || payload === lead.parkedNotice) this.#outdated.abort();
    });
    await runUntil(stop, () => this.#turn(stop), this.#needs);
    await this.#leave();
    await this.#lease?.release();
    unlisten?.();
  }

  async #turn(stop: AbortSignal): Promise<Turn> {
    if (this.#isOld()) await this.#leave();
    if (!(await this.#leads(stop))) {
      return { rest: () => this.#needs.clock.sleep(STANDBY_MS, stop) };
    }
    this.#active ??= await this.#takeUp(stop);
    const active = this.#active;
    try {
      const { isFull, generation } = await this.#takeNext(active);
      const { reader, idleWaitMs = IDLE_WAIT_MS } = this.#needs;
      const rest = () => reader.changed(generation, idleWaitMs, active.until);
      return { degraded: this.#degraded, rest: isFull ? undefined : rest };
    } catch (error) {
      const isEnded = active.until.aborted;
      this.#outdated.abort();
      await this.#leave();
      if (isEnded || error instanceof Fenced) return {};
      throw error;
    }
  }

  #isOld(): boolean {
    const active = this.#active;
    if (active === undefined) return false;
    const ageMs = this.#needs.clock.monotonicMs() - active.loadedAtMs;
    return active.until.aborted || (active.checkpoint.parked.size > 0 && ageMs > PARKED_LOOK_MS);
  }

  async #leads(stop: AbortSignal): Promise<boolean> {
    const { lead } = this.#needs;
    if (lead === undefined) return true;
    if (this.#lease?.lost.aborted) {
      await this.#lease.release();
      this.#lease = undefined;
    }
    this.#lease ??= await becomeActive({ ...this.#needs, leases: lead.leases }, lead.lease, stop);
    return this.#lease !== undefined;
  }

  /** Learns where the sink stands, also when another process or a lost answer moved it. */
  async #takeUp(stop: AbortSignal): Promise<Active<Prepared>> {
    this.#outdated = new AbortController();
    const checkpoint = await this.#sink.load();
    const lost = this.#lease === undefined ? [] : [this.#lease.lost];
    const answered = this.#unanswered.filter(({ position }) => position <= checkpoint.position);
    this.#unanswered = [];
    this.#sink.moved?.(checkpoint.position, answered);
    return {
      checkpoint,
      until: AbortSignal.any([stop, this.#outdated.signal, ...lost]),
      loadedAtMs: this.#needs.clock.monotonicMs(),
      passed: checkpoint.position,
      next: undefined,
    };
  }

  /** Ends what is under way; what is known here still holds, or is dropped. */
  async #leave(): Promise<void> {
    const active = this.#active;
    if (active === undefined) return;
    const { idle } = this.#sink;
    await active.next?.catch(() => {});
    await this.#sink.settle?.();
    if (this.#outdated.signal.aborted) await idle?.settle(this.#needs.name);
    else await idle?.flush();
    this.#active = undefined;
  }

  async #takeNext(active: Active<Prepared>): Promise<Read<Prepared>> {
    const batch = await (active.next ?? this.#read(active, active.passed));
    active.next = batch.isFull ? this.#readAhead(active, batch.through) : undefined;
    if (batch.events.length > 0) await this.#take(active, batch);
    else this.#tell(active, batch);
    if (!batch.isFull) await this.#sink.atEnd?.(batch.askedAtMs);
    return batch;
  }

  async #read({ checkpoint }: Active<Prepared>, after: bigint): Promise<Read<Prepared>> {
    const page = await this.#needs.reader.page(after);
    const { events } = page;
    const prepared = await this.#sink.prepare(events, checkpoint);
    const through = events.at(-1)?.position ?? after;
    return { ...page, prepared, through, isFull: events.length === PAGE_EVENTS_MAX };
  }

  #readAhead(active: Active<Prepared>, after: bigint): Promise<Read<Prepared>> {
    const next = this.#read(active, after);
    next.catch(() => {}); // met again where it is awaited, unless this batch fails first
    return next;
  }

  async #take(active: Active<Prepared>, batch: Batch<Prepared>): Promise<void> {
    const { checkpoint } = active;
    const { idle } = this.#sink;
    const { name } = this.#needs;
    if (this.#sink.isIdle(batch, checkpoint)) {
      const outdated = this.#outdated;
      const onLost = () => outdated.abort();
      this.#passed(active, batch);
      if (batch.through > checkpoint.position) {
        idle?.pass(name, { checkpoint, to: batch.through, onLost });
      }
      return;
    }
    await idle?.settle(name);
    this.#unanswered = batch.events;
    await this.#sink.apply(batch, checkpoint, active.until);
    this.#unanswered = [];
    this.#passed(active, batch);
  }

  #passed(active: Active<Prepared>, batch: Batch<Prepared>): void {
    active.passed = batch.through;
    this.#tell(active, batch);
    this.#sink.moved?.(batch.through, batch.events);
  }

  /** A parked stream and a long lag are both worth an alarm, and neither is an outage. */
  #tell({ checkpoint }: Active<Prepared>, { isFull, events }: Batch<Prepared>): void {
    const parked = checkpoint.parked.size;
    const last = isFull ? events.at(-1) : undefined;
    const lagMs = last === undefined ? 0 : this.#needs.clock.now().getTime() - last.time.getTime();
    if (parked > 0) this.#degraded = `parked streams: ${parked}`;
    else this.#degraded = lagMs > LAG_DEGRADED_MS ? 'behind by more than 60 s' : undefined;
    this.#needs.watch.degraded(this.#degraded);
  }
}
