/**
 * Appends outcomes. Each append is repeated until the event store accepts it, because a sent delivery may not be sent
 * again.
 */

import type { Clock, Logger } from '@cardea/runtime';
import { errorCode } from '@cardea/runtime';

/** The pause between two attempts while the store is unavailable. */
const PAUSE_MS = 1_000;

export class OutcomeAppends {
  readonly #needs: { readonly clock: Clock; readonly log: Logger };
  #waiting = 0;
  #isStopped = false;

  constructor(needs: { readonly clock: Clock; readonly log: Logger }) {
    this.#needs = needs;
  }

  /** Whether there are outcomes that the store has not accepted. */
  get areWaiting(): boolean {
    return this.#waiting > 0;
  }

  /** Stops repeating. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Returns the position, or undefined if nothing was appended. */
  async append(
    deliveryId: string,
    append: () => Promise<bigint | undefined>,
  ): Promise<bigint | undefined> {
    const { clock, log } = this.#needs;
    const failed = (error: unknown): 'failed' => {
      log.warn({ delivery_id: deliveryId, error: errorCode(error) }, 'an outcome waits');
      return 'failed';
    };
    let position = await append().catch(failed);
    if (position !== 'failed') return position;
    this.#waiting += 1;
    while (position === 'failed' && !this.#isStopped) {
      await clock.sleep(PAUSE_MS);
      position = await append().catch(failed);
    }
    this.#waiting -= 1;
    return position === 'failed' ? undefined : position;
  }
}
