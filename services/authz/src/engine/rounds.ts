/** A queue with one line per tenant, served in turns, so that a tenant with many entries does not delay others. */
export class Rounds<T> {
  /** Lines in the order of their turns. The tenant that was served last is at the end. */
  readonly #waiting = new Map<string, T[]>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  countOf(tenantId: string): number {
    return this.#waiting.get(tenantId)?.length ?? 0;
  }

  add(tenantId: string, one: T): void {
    const own = this.#waiting.get(tenantId);
    if (own === undefined) this.#waiting.set(tenantId, [one]);
    else own.push(one);
    this.#count += 1;
  }

  remove(tenantId: string, one: T): void {
    const own = this.#waiting.get(tenantId) ?? [];
    const at = own.indexOf(one);
    if (at === -1) return;
    own.splice(at, 1);
    this.#count -= 1;
    if (own.length === 0) this.#waiting.delete(tenantId);
  }

  /** Takes the oldest entry of the tenant that has waited longest for its turn, among the permitted tenants. */
  take(mayBeTaken: (tenantId: string) => boolean = () => true): T | undefined {
    for (const [tenantId, own] of this.#waiting) {
      if (!mayBeTaken(tenantId)) continue;
      const one = own.shift() as T;
      this.#count -= 1;
      this.#waiting.delete(tenantId);
      if (own.length > 0) this.#waiting.set(tenantId, own);
      return one;
    }
    return undefined;
  }
}
