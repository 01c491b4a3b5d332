/**
 * The only follower of a log. It reads a batch, lets its sink apply it together with the checkpoint, and wakes waiting
 * callers. Sinks are projections, policies, the relay, and indexes in memory.
 *
 * Only one process follows, under a lease; the others are on standby. There are two kinds of failures (see
 * `failures.ts`). After an outage the follower drops all state in memory, reads the checkpoint again and repeats the
 * batch, with a pause that grows to 5 s. Any other failure is attributed to an event: the follower halves the batch
 * until it finds that event, parks its stream, and continues with all others. Nothing is skipped, and nothing blocks
 * the rest.
 */
import type { RecordedEvent } from '@cardea/event-store';
import {
  type Clock,
  errorCode,
  type Lease,
  type Leases,
  type Logger,
  type LoopWatch,
  sharedRestMs,
} from '@cardea/runtime';
import { type Checkpoint, Fenced } from './checkpoints/checkpoint.ts';
import { applyOrSetAside, isOutage } from './failures/failures.ts';
import { PARKED_CHANNEL } from './failures/parked-events.ts';
import { becomeActive } from './lease.ts';
import { type LogReader, PAGE_EVENTS_MAX, type Resting } from './log-reader.ts';
import { runUntil, type Turn } from './run-until.ts';
import type { Batch, Sink } from './sink.ts';

/** The longest wait for a notice. A store's session wakes all subscribers when it may have missed one. */
const IDLE_WAIT_MS = 10_000;
const STANDBY_MS = 1000;
const LAG_DEGRADED_MS = 60_000;
/** How often the checkpoint is read again, because a parked stream may be repaired without a notice. */
const PARKED_LOOK_MS = 60_000;

export type FollowerDependencies = {
  /** The name of its checkpoint, if one is stored. */
  readonly name: string;
  readonly reader: LogReader;
  readonly clock: Clock;
  readonly log: Logger;
  readonly watch: Pick<LoopWatch, 'tick' | 'degraded'>;
  /** Without this, every process follows the log separately. `parkedNotice` is the payload that a release sends. */
  readonly lead?: {
    readonly leases: Leases;
    readonly lease: string;
    readonly parkedNotice: string;
  };
  /** How long to wait for a notice before polling. */
  readonly idleWaitMs?: number;
  /** Waits after a notice, so that the next batch includes what happens in the meantime. */
  readonly pace?: (signal: AbortSignal) => Promise<void>;
};

type Read<Prepared> = Omit<Batch<Prepared>, 'prepared'> & {
  /** Undefined after a failure. The batch is then prepared again when it is taken. */
  readonly prepared: { readonly value: Prepared } | undefined;
  readonly generation: number;
  readonly askedAtMs: number | undefined;
};

type Passed = Omit<Batch<unknown>, 'prepared'>;

type Active<Prepared> = {
  readonly checkpoint: Checkpoint;
  /** Aborts at the stop, when the lease is lost, and when the state in memory is outdated. */
  readonly until: AbortSignal;
  readonly loadedAtMs: number;
  /** Everything up to this position was applied or skipped. The stored checkpoint may lag. */
  passed: bigint;
  next: Promise<Read<Prepared>> | undefined;
};

export class LogFollower<Prepared = undefined> {
  readonly #sink: Sink<Prepared>;
  readonly #needs: FollowerDependencies;
  #lease: Lease | undefined;
  #active: Active<Prepared> | undefined;
  /** Aborts when this process's knowledge of its checkpoint is outdated. */
  #outdated = new AbortController();
  /** Events whose commit was not confirmed. They count as committed when the stored checkpoint includes them. */
  #unanswered: readonly RecordedEvent[] = [];
  #degraded: string | undefined;

  constructor(sink: Sink<Prepared>, needs: FollowerDependencies) {
    this.#sink = sink;
    this.#needs = needs;
  }

  /** Undefined in a process on standby. */
  get checkpoint(): Checkpoint | undefined {
    return this.#active?.checkpoint;
  }

  /** Runs until the signal aborts. Finishes the current batch. */
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
      const { reader, clock, idleWaitMs } = this.#needs;
      const rest = async (): Promise<void> => {
        const waitMs = idleWaitMs ?? sharedRestMs(clock, IDLE_WAIT_MS);
        await reader.changed(generation, waitMs, active.until, this.#resting(active));
        await this.#needs.pace?.(active.until);
      };
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

  /** Reads the sink's checkpoint, which another process or an unconfirmed commit may have moved. */
  async #takeUp(stop: AbortSignal): Promise<Active<Prepared>> {
    this.#outdated = new AbortController();
    const checkpoint = await this.#sink.load();
    const lost = this.#lease === undefined ? [] : [this.#lease.lost];
    const answered = this.#unanswered.filter(({ position }) => position <= checkpoint.position);
    this.#unanswered = [];
    this.#tellMoved(checkpoint.position, answered);
    return {
      checkpoint,
      until: AbortSignal.any([stop, this.#outdated.signal, ...lost]),
      loadedAtMs: this.#needs.clock.monotonicMs(),
      passed: checkpoint.position,
      next: undefined,
    };
  }

  /** Waits for pending work. Afterwards the state in memory is either valid or dropped. */
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
    const prepared = await this.#prepared(events, checkpoint).catch((error: unknown) => {
      if (isOutage(error)) throw error;
      return undefined;
    });
    const through = events.at(-1)?.position ?? after;
    return { ...page, prepared, through, isFull: events.length === PAGE_EVENTS_MAX };
  }

  async #prepared(
    events: readonly RecordedEvent[],
    checkpoint: Checkpoint,
  ): Promise<{ readonly value: Prepared }> {
    for (const event of events) {
      if (event.fault === undefined || this.#ignores([event], checkpoint)) continue;
      throw event.fault;
    }
    return { value: (await this.#sink.prepare?.(events, checkpoint)) as Prepared };
  }

  #readAhead(active: Active<Prepared>, after: bigint): Promise<Read<Prepared>> {
    const next = this.#read(active, after);
    next.catch(() => {}); // The error is handled where the promise is awaited, unless this batch fails first.
    return next;
  }

  async #take(active: Active<Prepared>, batch: Read<Prepared>): Promise<void> {
    await applyOrSetAside(batch.events, {
      apply: async (some) => {
        active.until.throwIfAborted();
        // A failure may come after the commit, so events that have taken effect are not applied again.
        const done = active.checkpoint.position;
        const isNew = some[0] !== undefined && some[0].position > done;
        const events = isNew ? some : some.filter(({ position }) => position > done);
        if (events.length === 0) {
          const through = some.at(-1)?.position ?? active.passed;
          this.#passed(active, { events: some, through, isFull: false });
          return;
        }
        const isWhole = events.length === batch.events.length;
        const prepared =
          (isWhole ? batch.prepared : undefined) ??
          (await this.#prepared(events, active.checkpoint));
        const through = events.at(-1)?.position ?? batch.through;
        const isFull = isWhole && batch.isFull;
        await this.#apply(active, { events, prepared: prepared.value, through, isFull });
      },
      setAside: (event, error) => this.#setAside(active, event, error),
    });
  }

  #ignores(events: readonly RecordedEvent[], { parked }: Checkpoint): boolean {
    const { types, recordsParked } = this.#sink;
    if (types === undefined) return false;
    for (const { type, streamId } of events) {
      if (types.has(type) || (recordsParked && parked.has(streamId))) return false;
    }
    return true;
  }

  async #apply(active: Active<Prepared>, batch: Batch<Prepared>): Promise<void> {
    const { checkpoint } = active;
    if (this.#ignores(batch.events, checkpoint)) return this.#passOver(active, batch);
    await this.#sink.idle?.settle(this.#needs.name);
    this.#unanswered = batch.events;
    const isStored = await this.#sink.apply(batch, checkpoint, active.until);
    this.#unanswered = [];
    if (isStored) this.#passed(active, batch);
    else this.#passOver(active, batch);
  }

  async #setAside(active: Active<Prepared>, event: RecordedEvent, error: unknown): Promise<void> {
    active.until.throwIfAborted(); // The abort may be the cause of the failure.
    const { checkpoint } = active;
    const { streamId, position, type } = event;
    await this.#sink.idle?.settle(this.#needs.name);
    await this.#sink.setAside(event, error, checkpoint);
    if (!checkpoint.parked.has(streamId)) checkpoint.parked.set(streamId, position);
    this.#needs.log.error(
      { stream_id: streamId, event_type: type, position: String(position), code: errorCode(error) },
      'stream parked',
    );
    // A batch that was prepared before this point does not know that the stream is parked.
    await active.next?.catch(() => {});
    active.next = undefined;
    this.#passed(active, { events: [event], through: position, isFull: false });
  }

  #resting(active: Active<Prepared>): Resting | undefined {
    const { types, atEnd } = this.#sink;
    if (types === undefined || atEnd !== undefined) return undefined;
    return {
      after: () => active.passed,
      pass: ({ events }) => {
        if (events.length === PAGE_EVENTS_MAX) return false;
        if (!this.#ignores(events, active.checkpoint)) return false;
        const through = events.at(-1)?.position;
        if (through !== undefined) this.#passOver(active, { events, through, isFull: false });
        return true;
      },
    };
  }

  /** Nothing changes here, so the checkpoint is stored later, with others. */
  #passOver(active: Active<Prepared>, batch: Passed): void {
    const { checkpoint } = active;
    const outdated = this.#outdated;
    const onLost = () => outdated.abort();
    this.#passed(active, batch);
    if (batch.through <= checkpoint.position) return;
    this.#sink.idle?.pass(this.#needs.name, { checkpoint, to: batch.through, onLost });
  }

  #passed(active: Active<Prepared>, batch: Passed): void {
    active.passed = batch.through;
    this.#tell(active, batch);
    this.#tellMoved(batch.through, batch.events);
  }

  /** The events have taken effect. A listener cannot undo that. */
  #tellMoved(position: bigint, events: readonly RecordedEvent[]): void {
    try {
      this.#sink.moved?.(position, events);
    } catch (error) {
      this.#needs.log.error({ code: errorCode(error) }, 'a listener of a follower failed');
    }
  }

  /** Parked streams and a long lag both deserve an alarm. Neither is an outage. */
  #tell({ checkpoint }: Active<Prepared>, { isFull, events }: Passed): void {
    const parked = checkpoint.parked.size;
    const last = isFull ? events.at(-1) : undefined;
    const lagMs = last === undefined ? 0 : this.#needs.clock.now().getTime() - last.time.getTime();
    if (parked > 0) this.#degraded = `parked streams: ${parked}`;
    else this.#degraded = lagMs > LAG_DEGRADED_MS ? 'behind by more than 60 s' : undefined;
    this.#needs.watch.degraded(this.#degraded);
  }
}
