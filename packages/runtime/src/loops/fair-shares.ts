/**
 * Divides the places of one resource of this process between tenants (`docs/design/bounds.md`, C1). A tenant may hold a
 * fixed multiple of the free places. So the more tenants fill their shares, the smaller a share is, and some places
 * stay free for a tenant that holds none. Waiting tenants are served in turn.
 */
import type { Clock } from '../ports.ts';

/** The holder of a place calls it once. */
export type GiveBack = () => void;

export type FairSharesForm = {
  readonly places: number;
  /**
   * Places that one tenant may hold per free place. With 1/3 one busy tenant can hold a quarter of all places, with 1
   * half of them. `Infinity` suits places that are held for milliseconds: a tenant can hold all of them, and only the
   * order of waiting is fair.
   */
  readonly perFreePlace: number | (() => number);
};

export class FairShares {
  readonly #form: FairSharesForm;
  readonly #heldBy = new Map<string, number>();
  #held = 0;

  constructor(form: FairSharesForm) {
    this.#form = form;
  }

  get free(): number {
    return this.#form.places - this.#held;
  }

  /** Tenants that hold places, with their number. */
  get holders(): ReadonlyMap<string, number> {
    return this.#heldBy;
  }

  /**
   * The number of places that the tenant may still take while no other tenant takes or returns any. Without an id, the
   * number for a tenant that has none yet.
   */
  roomOf(tenantId?: string): number {
    const { free } = this;
    const { perFreePlace: given } = this.#form;
    const perFreePlace = typeof given === 'function' ? given() : given;
    if (free <= 0) return 0;
    if (perFreePlace === Number.POSITIVE_INFINITY) return free;
    const held = tenantId === undefined ? 0 : (this.#heldBy.get(tenantId) ?? 0);
    // Each taken place also reduces the number of free places by one.
    const room = Math.ceil((perFreePlace * free - held) / (1 + perFreePlace));
    return Math.max(held === 0 ? 1 : 0, Math.min(free, room));
  }

  /** Returns undefined when the tenant holds its share, or nothing is free. */
  take(tenantId: string): GiveBack | undefined {
    return this.roomOf(tenantId) === 0 ? undefined : this.hold(tenantId);
  }

  /** Takes a place within a room that was computed before, for callers that got several tenants' work at once. */
  hold(tenantId: string): GiveBack {
    this.#add(tenantId, 1);
    let isHeld = true;
    return () => {
      if (isHeld) this.#add(tenantId, -1);
      isHeld = false;
    };
  }

  #add(tenantId: string, by: 1 | -1): void {
    this.#held += by;
    const held = (this.#heldBy.get(tenantId) ?? 0) + by;
    if (held === 0) this.#heldBy.delete(tenantId);
    else this.#heldBy.set(tenantId, held);
  }
}

export type FairQueueForm = FairSharesForm & {
  /** The most waiting callers of all tenants. Tenants share this number as they share the places. */
  readonly waitingMax: number;
  /** A caller that has waited this long gets no place. */
  readonly waitMaxMs: number;
};

type Waiter = { readonly resolve: (giveBack: GiveBack | undefined) => void };

/** Divides places between waiting callers. A free place goes to the tenant whose turn is longest ago. */
export class FairQueue {
  readonly #form: FairQueueForm;
  readonly #clock: Pick<Clock, 'after'>;
  readonly #places: FairShares;
  readonly #waitingPlaces: FairShares;
  /** Lines in the order of turns. A tenant that was served moves to the end. */
  readonly #lines = new Map<string, Set<Waiter>>();

  constructor(form: FairQueueForm, clock: Pick<Clock, 'after'>) {
    this.#form = form;
    this.#clock = clock;
    this.#places = new FairShares(form);
    this.#waitingPlaces = new FairShares({ places: form.waitingMax, perFreePlace: 1 });
  }

  get free(): number {
    return this.#places.free;
  }

  get waiting(): number {
    return this.#form.waitingMax - this.#waitingPlaces.free;
  }

  /** Returns undefined when the caller waited too long, or the tenant's share of waiting callers is full. */
  async take(tenantId: string): Promise<GiveBack | undefined> {
    return this.takeNow(tenantId) ?? (await this.#wait(tenantId));
  }

  /** Returns undefined unless the tenant gets a place without waiting. */
  takeNow(tenantId: string): GiveBack | undefined {
    // While others wait, a free place is one that their shares do not allow them to take.
    return this.#lines.has(tenantId) ? undefined : this.#place(tenantId);
  }

  #place(tenantId: string): GiveBack | undefined {
    const giveBack = this.#places.take(tenantId);
    return (
      giveBack &&
      (() => {
        giveBack();
        this.#serve();
      })
    );
  }

  #wait(tenantId: string): Promise<GiveBack | undefined> {
    const leave = this.#waitingPlaces.take(tenantId);
    if (leave === undefined) return Promise.resolve(undefined);
    const { promise, resolve } = Promise.withResolvers<GiveBack | undefined>();
    const line = this.#lines.get(tenantId) ?? new Set();
    const waiter: Waiter = {
      resolve: (giveBack) => {
        line.delete(waiter);
        if (line.size === 0) this.#lines.delete(tenantId);
        leave();
        cancel();
        resolve(giveBack);
      },
    };
    this.#lines.set(tenantId, line.add(waiter));
    const cancel = this.#clock.after(this.#form.waitMaxMs, () => waiter.resolve(undefined));
    return promise;
  }

  /** One returned place may let several tenants have one more of the free places. */
  #serve(): void {
    for (let served = this.#serveNext(); served; served = this.#serveNext());
  }

  #serveNext(): boolean {
    for (const [tenantId, line] of this.#lines) {
      const [first] = line;
      const giveBack = first && this.#place(tenantId);
      if (giveBack === undefined) continue;
      this.#lines.delete(tenantId);
      this.#lines.set(tenantId, line);
      first?.resolve(giveBack);
      return true;
    }
    return false;
  }
}

/**
 * Whether several tenants currently share a resource of this process. A tenant that is alone may have nearly all of it.
 * Leaving room for others costs it something, so that share applies only while there are others.
 */

/** How long after tenants alternated the resource still counts as shared. */
const SHARED_MS = 1_000;

export class SharedUse {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #lastTenant = '';
  #lastMs = Number.NEGATIVE_INFINITY;
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Call it for each use. Returns true if another tenant used the resource within about the last second. */
  by(tenantId: string): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (tenantId !== this.#lastTenant && nowMs - this.#lastMs < SHARED_MS) {
      this.#untilMs = nowMs + SHARED_MS;
    }
    this.#lastTenant = tenantId;
    this.#lastMs = nowMs;
    return nowMs < this.#untilMs;
  }
}
