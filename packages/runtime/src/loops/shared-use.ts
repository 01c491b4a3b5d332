/**
 * Whether tenants share a resource of this process at the moment. One that is alone may have nearly all of it; a
 * share that leaves others room costs it something, so it holds only while there are others.
 */
import type { Clock } from '../ports.ts';

/** So long after tenants used it one after the other, it counts as shared. */
const SHARED_MS = 1_000;

export class SharedUse {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #lastTenant = '';
  #lastMs = Number.NEGATIVE_INFINITY;
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Called for each use; true where another tenant used it within the last second or so. */
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
