/**
 * The position at which the last claim of this process ended. The next claim begins after it, both among tenants and
 * within each of them.
 */

/** The most tenants whose position is kept. A forgotten tenant begins with its first webhook. */
const PLACES_MAX = 256;

/** A claimed delivery, with the tenant and webhook that had their turn. */
type Turn = { readonly tenantId: string; readonly webhookId: string };

export class Rounds {
  #tenant = '';
  readonly #places = new Map<string, string>();

  /** The tenant after which the next claim begins. */
  get tenant(): string {
    return this.#tenant;
  }

  /** For each tenant the webhook after which its turn begins. */
  get places(): ReadonlyMap<string, string> {
    return this.#places;
  }

  /** `claimed` is in the order in which tenants and webhooks were considered. */
  moved(claimed: readonly Turn[], lastSeen?: string): void {
    this.#tenant = claimed.at(-1)?.tenantId ?? lastSeen ?? this.#tenant;
    for (const { tenantId, webhookId } of claimed) {
      this.#places.delete(tenantId);
      this.#places.set(tenantId, webhookId);
    }
    for (const tenantId of this.#places.keys()) {
      if (this.#places.size <= PLACES_MAX) return;
      this.#places.delete(tenantId);
    }
  }
}
