/**
 * The attempts that this process makes at the same time: so many in all, so many per origin, and no
 * tenant more than its share, so that one slow receiver holds up nobody but itself.
 */
type Wanting = {
  readonly webhookId: string;
  readonly tenantId: string;
  readonly origin: string;
};

const PER_ORIGIN_MAX = 16;
/** How many of all concurrent attempts one tenant may have. */
const TENANT_SHARE = 1 / 4;

export class Concurrency {
  readonly #most: number;
  readonly #perTenantMax: number;
  readonly #byOrigin = new Map<string, number>();
  readonly #byTenant = new Map<string, number>();
  /** Webhooks that were turned away, for as long as what was full is full. */
  readonly #turnedAway = new Map<string, Wanting>();
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
    this.#perTenantMax = Math.max(1, Math.floor(most * TENANT_SHARE));
  }

  get free(): number {
    return this.#most - this.#taken;
  }

  /** The way to give it back, once; undefined where origin or tenant have all that they get. */
  take(of: Wanting): (() => void) | undefined {
    if (this.#isFull(of)) {
      this.#turnedAway.set(of.webhookId, of);
      return undefined;
    }
    this.#add(of, 1);
    return () => this.#add(of, -1);
  }

  /** Webhooks for which nothing is to be claimed now. */
  skipped(): readonly string[] {
    for (const [id, of] of this.#turnedAway) if (!this.#isFull(of)) this.#turnedAway.delete(id);
    return [...this.#turnedAway.keys()];
  }

  #isFull({ origin, tenantId }: Wanting): boolean {
    return (
      (this.#byOrigin.get(origin) ?? 0) >= PER_ORIGIN_MAX ||
      (this.#byTenant.get(tenantId) ?? 0) >= this.#perTenantMax
    );
  }

  #add({ origin, tenantId }: Wanting, by: 1 | -1): void {
    this.#taken += by;
    count(this.#byOrigin, origin, by);
    count(this.#byTenant, tenantId, by);
  }
}

function count(counts: Map<string, number>, name: string, by: number): void {
  const now = (counts.get(name) ?? 0) + by;
  if (now === 0) counts.delete(name);
  else counts.set(name, now);
}
