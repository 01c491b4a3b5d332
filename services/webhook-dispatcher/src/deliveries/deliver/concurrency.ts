/**
 * Limits the concurrent attempts of this process. Tenants share the slots as `FairShares` defines. Each origin has a
 * limit. A delivery that was claimed for a full origin waits, with turns between tenants, and nothing more is claimed
 * for that origin until nothing waits.
 */
import { type Clock, FairQueue, FairShares, type GiveBack } from '@cardea/runtime';

type Attempt = {
  readonly webhookId: string;
  readonly tenantId: string;
  readonly origin: string;
};

const PER_ORIGIN_MAX = 16;
/** A delivery that waited this long for its origin is released into the queue. */
const ORIGIN_WAIT_MS = 5_000;
/** One busy tenant gets at most a quarter of the slots. */
const PER_FREE_SLOT = 1 / 3;

/**
 * The places at one origin, the webhooks that have used it, and the number of attempts that hold a place or wait for
 * one.
 */
type Origin = {
  readonly places: FairQueue;
  readonly webhooks: Set<string>;
  users: number;
};

export class Concurrency {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #slots: FairShares;
  readonly #waitingMax: number;
  readonly #origins = new Map<string, Origin>();

  constructor(most: number, clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
    this.#slots = new FairShares({ places: most, perFreePlace: PER_FREE_SLOT });
    this.#waitingMax = Math.max(most, PER_ORIGIN_MAX);
  }

  get free(): number {
    return this.#slots.free;
  }

  /** The limits of a claim: nothing for webhooks whose origin is full, and for each tenant its free places. */
  claimable() {
    const full = [...this.#origins.values()].filter(
      ({ places }) => places.free === 0 || places.waiting > 0,
    );
    const tenants = [...this.#slots.holders.keys()];
    return {
      skip: full.flatMap(({ webhooks }) => [...webhooks]),
      rooms: new Map(tenants.map((tenantId) => [tenantId, this.#slots.roomOf(tenantId)])),
      roomElse: this.#slots.roomOf(),
    };
  }

  /** Call it for a claimed delivery, for whose tenant there was room. */
  enter(tenantId: string): GiveBack {
    return this.#slots.hold(tenantId);
  }

  /** Returns undefined if the origin has no room for another attempt now. */
  enterOriginNow(attempt: Attempt): GiveBack | undefined {
    const origin = this.#originOf(attempt);
    return this.#leaving(attempt, origin, origin.places.takeNow(attempt.tenantId));
  }

  /** Waits for the origin. Returns undefined if that takes too long. */
  async enterOrigin(attempt: Attempt): Promise<GiveBack | undefined> {
    const origin = this.#originOf(attempt);
    return this.#leaving(attempt, origin, await origin.places.take(attempt.tenantId));
  }

  #originOf({ origin: name, webhookId }: Attempt): Origin {
    const form = { places: PER_ORIGIN_MAX, perFreePlace: Number.POSITIVE_INFINITY };
    const waiting = { waitingMax: this.#waitingMax, waitMaxMs: ORIGIN_WAIT_MS };
    const origin = this.#origins.get(name) ?? {
      places: new FairQueue({ ...form, ...waiting }, this.#clock),
      webhooks: new Set(),
      users: 0,
    };
    this.#origins.set(name, origin);
    origin.webhooks.add(webhookId);
    origin.users += 1;
    return origin;
  }

  #leaving(
    { origin: name }: Attempt,
    origin: Origin,
    giveBack: GiveBack | undefined,
  ): GiveBack | undefined {
    const left = (): void => {
      origin.users -= 1;
      if (origin.users === 0) this.#origins.delete(name);
    };
    if (giveBack === undefined) {
      left();
      return undefined;
    }
    return () => {
      giveBack();
      left();
    };
  }
}
