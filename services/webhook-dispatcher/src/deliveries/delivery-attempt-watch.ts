/** Delays the response to a test or a retry until its attempt can be read, so that the next list shows it. */
import type { RecordedEvent } from '@cardea/event-store';
import type { Database } from '@cardea/read-models';
import type { Clock } from '@cardea/runtime';
import { deliveryIdOf } from './delivery.ts';

const WAIT_MS = 5_000;
/** How often the table is read, because another process may have made the attempt. */
const LOOK_MS = 250;

type Awaited = {
  readonly tenantId: string;
  readonly deliveryId: string;
  readonly since: Date;
  /** When the process stops, all waiting requests are answered at once. */
  readonly draining: AbortSignal;
};

export class DeliveryAttemptWatch {
  readonly #waiting = new Map<string, AbortController>();
  readonly #clock: Clock;
  readonly #database: Database;

  constructor({ clock, database }: { readonly clock: Clock; readonly database: Database }) {
    this.#clock = clock;
    this.#database = database;
  }

  /** Call it with events whose rows can be read from now on. */
  heard(events: readonly RecordedEvent[]): void {
    if (this.#waiting.size === 0) return;
    for (const { type, streamId } of events) {
      if (type !== 'DeliveryScheduled') this.#waiting.get(deliveryIdOf(streamId))?.abort();
    }
  }

  /** Runs `schedule`, then waits for the delivery's first attempt for at most 5 s. */
  async attemptedAfter<T>(of: Awaited, schedule: () => Promise<T>): Promise<T> {
    const heard = new AbortController();
    this.#waiting.set(of.deliveryId, heard);
    try {
      const scheduled = await schedule();
      const deadlineMs = this.#clock.monotonicMs() + WAIT_MS;
      const enough = AbortSignal.any([heard.signal, of.draining]);
      while (!enough.aborted && this.#clock.monotonicMs() < deadlineMs) {
        if (await this.#isReadable(of)) break;
        await this.#clock.sleep(LOOK_MS, enough);
      }
      return scheduled;
    } finally {
      this.#waiting.delete(of.deliveryId);
    }
  }

  async #isReadable({ tenantId, deliveryId, since }: Awaited): Promise<boolean> {
    const { rowCount } = await this.#database.system.query(
      `SELECT 1 FROM webhooks.attempts
       WHERE tenant_id = $1 AND attempted_at >= $2 AND delivery_id = $3 LIMIT 1`,
      [tenantId, since, deliveryId],
    );
    return rowCount > 0;
  }
}
