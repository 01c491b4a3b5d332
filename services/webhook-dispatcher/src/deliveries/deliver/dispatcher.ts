/**
 * Claims due deliveries, sends them, and records the outcomes. If the event store does not accept an outcome, it waits
 * here, and its delivery stays leased until its row shows the outcome. So neither an outage nor a slow projection sends
 * anything twice. Leases that an outage left without a running attempt are released by the first statement that works
 * again. Only a crash leaves leases to expire.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Sealed } from '@cardea/crypto';
import type { Command, Streams } from '@cardea/event-store';
import { isOutage } from '@cardea/log-follower';
import type { Positions } from '@cardea/read-models';
import {
  type Clock,
  errorCode,
  type GiveBack,
  type Ids,
  type Logger,
  pacing,
  type Random,
  type Settings,
} from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import { cancel } from '../cancel-delivery.ts';
import { DELIVERIES_TABLE } from '../deliveries.projection.ts';
import { type CancelCause, deliveries, excerptField, streamOf } from '../delivery.ts';
import type { Claimed, Queue } from '../queue.ts';
import { Concurrency } from './concurrency.ts';
import { OutcomeAppends } from './outcome-appends.ts';
import { readyToSend } from './ready-to-send.ts';
import { recordAttempt } from './record-attempt.ts';
import { type SendDependencies, type Sent, send } from './send.ts';

/**
 * The pause while nothing is due. The dispatcher is woken when something becomes due in this process; other due times
 * are known.
 */
const IDLE_MS = 10_000;
/** The pause before due deliveries that could not be sent or released are tried again. */
const BLOCKED_MS = 1_000;
const LEASE_MS = 60_000;
const RENEW_EVERY_MS = 20_000;
/** How often the renewing loop checks whether a lease has to be renewed. */
const RENEW_LOOK_MS = 5_000;
const PROJECTION_WAIT_MS = 60_000;
/** How long attempts under way may take when the process stops. */
const DRAIN_MS = 5_000;
const CHANCE_BYTES = 4;
/** A reason of our own. The default reason is an error with a stack, created at every wake-up. */
const WOKEN = 'woken';

type DispatcherDependencies = SendDependencies & {
  readonly queue: Queue;
  readonly streams: Streams;
  readonly positions: Positions;
  readonly systemCommand: ServiceDependencies['systemCommand'];
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  readonly settings: Pick<Settings, 'WEBHOOK_CONCURRENCY' | 'WEBHOOK_RETRY_DELAYS'>;
  readonly log: Logger;
};

/** What remains of an attempt: a lease that no running attempt uses any more, or nothing. */
type Left = 'leased' | 'done';

export class Dispatcher {
  readonly #needs: DispatcherDependencies;
  readonly #owner: string;
  readonly #slots: Concurrency;
  /** Deliveries that this process has claimed and not finished. */
  readonly #held = new Set<string>();
  /** Deliveries that were claimed again: their release was performed, but its answer was lost. */
  readonly #claimedAgain = new Set<string>();
  readonly #tasks = new Set<Promise<void>>();
  #woken = new AbortController();
  /** While outcomes wait for the store, nothing new is claimed. */
  readonly #outcomes: OutcomeAppends;
  #stopped = false;
  /** Whether an outage may have left leases without a running attempt. */
  #astray = false;
  #renewedMs: number;
  /** Whether the last claim left due deliveries, or a claim is under way. */
  #isMoreDue = true;

  constructor(needs: DispatcherDependencies) {
    this.#needs = needs;
    this.#owner = needs.ids.next();
    this.#outcomes = new OutcomeAppends(needs);
    this.#slots = new Concurrency(needs.settings.WEBHOOK_CONCURRENCY, needs.clock);
    this.#renewedMs = needs.clock.monotonicMs();
  }

  /** Call it when something may be due, or one more attempt may start. */
  wake(): void {
    this.#woken.abort(WOKEN);
  }

  /** Call it when attempts have ended, or a webhook's health has changed, so that more may start. */
  wakeForMore(): void {
    if (this.#isMoreDue) this.wake();
  }

  async run(signal: AbortSignal, tick: () => void): Promise<void> {
    const pace = pacing(this.#needs.clock);
    while (!signal.aborted) {
      tick();
      await pace.next(signal);
      this.#woken = new AbortController();
      const pauseMs = await this.#claim();
      await this.#needs.clock.sleep(pauseMs, AbortSignal.any([signal, this.#woken.signal]));
    }
    await Promise.race([Promise.allSettled(this.#tasks), pause(DRAIN_MS, null, { ref: false })]);
    // The lease of an unfinished delivery expires, and the process that claims it next sends it again.
    this.#stopped = true;
    this.#outcomes.stop();
  }

  /** Renewing is a separate loop, so that a blocked claim does not let leases expire. */
  async renew(signal: AbortSignal, tick: () => void): Promise<void> {
    const { queue, clock } = this.#needs;
    while (!signal.aborted) {
      tick();
      await clock.sleep(RENEW_LOOK_MS, signal);
      const now = clock.monotonicMs();
      if (now - this.#renewedMs < RENEW_EVERY_MS || this.#held.size === 0) continue;
      await queue.renew([...this.#held], this.#owner, this.#leaseEnd());
      this.#renewedMs = now;
    }
  }

  /** Returns the time in ms for which nothing is expected to be due. */
  async #claim(): Promise<number> {
    const { queue, clock } = this.#needs;
    await this.#releaseAstray();
    const most = this.#slots.free;
    this.#isMoreDue = true;
    if (most <= 0 || this.#outcomes.areWaiting) return BLOCKED_MS;
    const now = clock.now();
    const slots = this.#slots.claimable();
    const asking = { now, leaseUntil: this.#leaseEnd(), owner: this.#owner, most, ...slots };
    const { claimed, nextAt, isMoreDue } = await queue.claim(asking).catch((error: unknown) => {
      this.#astray = true;
      throw error;
    });
    this.#isMoreDue = isMoreDue;
    for (const each of claimed) this.#take(each);
    // The next claim follows at once. If a claim got nothing, it waits until an attempt ends.
    if (isMoreDue && claimed.length > 0) return 0;
    const restMs = isMoreDue || this.#astray ? BLOCKED_MS : IDLE_MS;
    const leftMs = (nextAt?.getTime() ?? Number.POSITIVE_INFINITY) - clock.now().getTime();
    // A response that took long is old already, so its time is subtracted.
    const spentMs = clock.now().getTime() - now.getTime();
    return Math.max(0, Math.min(leftMs, restMs - spentMs));
  }

  /** Runs between two claims, when every known claimed delivery has a running attempt. */
  async #releaseAstray(): Promise<void> {
    if (!this.#astray) return;
    // If a lease is lost during the release, the flag is set again.
    this.#astray = false;
    const all = await this.#needs.queue
      .releaseAllBut([...this.#held], this.#owner)
      .catch((error: unknown) => {
        this.#astray = true;
        throw error;
      });
    if (!all) this.#astray = true;
  }

  #leaseEnd(): Date {
    return new Date(this.#needs.clock.now().getTime() + LEASE_MS);
  }

  #take(claimed: Claimed): void {
    const { deliveryId } = claimed;
    if (this.#held.has(deliveryId)) {
      this.#claimedAgain.add(deliveryId);
      return;
    }
    this.#held.add(deliveryId);
    const leave = this.#slots.enter(claimed.tenantId);
    const task = this.#deliver(claimed, leave)
      .finally(leave)
      .catch((error: unknown): Left => {
        const fields = { delivery_id: deliveryId, error: errorCode(error) };
        this.#needs.log.warn(fields, 'an attempt was not made');
        // A bug would fail again at once, so its lease is left to expire.
        return isOutage(error) ? 'leased' : 'done';
      })
      .then((left) => {
        this.#held.delete(deliveryId);
        this.#tasks.delete(task);
        if (!this.#claimedAgain.delete(deliveryId) && left !== 'leased') return;
        this.#astray = true;
        this.#wakeLater();
      });
    this.#tasks.add(task);
  }

  /** `leave` returns the slot, which is free again after the receiver has answered. */
  async #deliver(claimed: Claimed, leave: GiveBack): Promise<Left> {
    const ready = await readyToSend(this.#needs, this.#slots, claimed);
    if (ready === 'not_now') {
      this.#wakeLater();
      return await this.#release(claimed);
    }
    if ('cancel' in ready) return await this.#cancel(claimed, ready.cancel);
    const sent = await send(this.#needs, claimed, ready.prepared).finally(() => {
      ready.leaveOrigin();
      leave();
      this.wakeForMore();
    });
    // An attempt that our own shutdown interrupted says nothing about the receiver.
    return this.#stopped ? 'done' : await this.#record(claimed, sent);
  }

  async #cancel(claimed: Claimed, cause: CancelCause): Promise<Left> {
    const { streams } = this.#needs;
    const command = this.#commandOf(claimed);
    return await this.#recorded(claimed, async () => {
      const { position } = await streams.decideOn(
        deliveries,
        claimed.deliveryId,
        command,
        (delivery) => cancel(delivery, cause),
      );
      return position;
    });
  }

  #wakeLater(): void {
    this.#needs.clock.after(BLOCKED_MS, () => this.wake());
  }

  async #release({ deliveryId }: Claimed): Promise<Left> {
    const released = await this.#needs.queue.release([deliveryId], this.#owner);
    return released ? 'done' : 'leased';
  }

  /** A random id, because two processes may record the same attempt, and both records count. */
  #commandOf({ tenantId, deliveryId }: Claimed): Command {
    const command = this.#needs.systemCommand(tenantId, 'attempt', deliveryId);
    return { ...command, id: this.#needs.ids.next() };
  }

  async #record(claimed: Claimed, sent: Sent): Promise<Left> {
    const { streams, settings, random } = this.#needs;
    const command = this.#commandOf(claimed);
    const schedule = {
      delaysMs: settings.WEBHOOK_RETRY_DELAYS,
      chance: random.bytes(CHANCE_BYTES).readUInt32BE() / 2 ** 32,
    };
    const n = claimed.attemptsMade + 1;
    return await this.#recorded(claimed, async () => {
      const outcome = { ...sent, n, excerpt: await this.#sealed(claimed, n, sent.excerpt) };
      const decided = await streams.decideOn(deliveries, claimed.deliveryId, command, (delivery) =>
        recordAttempt(delivery, outcome, schedule),
      );
      return decided.position;
    });
  }

  async #sealed(claimed: Claimed, n: number, excerpt: string): Promise<Sealed | null> {
    if (excerpt === '') return null;
    const { tenantId, subject, deliveryId } = claimed;
    const place = { subject, streamId: streamOf(deliveryId), field: excerptField(n) };
    const sealed = await this.#needs.sealer.seal(tenantId, place, excerpt);
    return sealed === 'erased' ? null : sealed;
  }

  /** Waits until the store has accepted the outcome and its row shows it. */
  async #recorded(claimed: Claimed, append: () => Promise<bigint | undefined>): Promise<Left> {
    const position = await this.#outcomes.append(claimed.deliveryId, append);
    if (position === undefined) return await this.#release(claimed);
    const { positions, clock } = this.#needs;
    while (!(await positions.reached([DELIVERIES_TABLE], position, PROJECTION_WAIT_MS))) {
      if (this.#stopped) break;
      // The promise resolves at once if projections have stopped already, so this waits instead.
      await clock.sleep(BLOCKED_MS);
    }
    return 'done';
  }
}
