/**
 * Whether several tenants currently share a resource of this process. A tenant that is alone may have nearly all of it.
 * Leaving room for others costs it something, so that share applies only while there are others.
 */
import type { Clock } from '../ports.ts';

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
