import type { IntegrationEvent } from '@cardea/contracts';
import { Outage } from '@cardea/runtime';

/**
 * A consumer's work in two halves, so that no database connection is occupied while waiting for another connection, an
 * append or a projection. The first half runs outside of any transaction and finds due events without a lock. The
 * second half is the transaction, which starts over when other events are due by then.
 */
export type Halves<Applied> = {
  /** The due events, read without a lock. Additional events do no harm. */
  readonly due: () => Promise<readonly IntegrationEvent[]>;
  readonly prepare: (events: readonly IntegrationEvent[]) => Promise<void>;
  /** Throws {@link MovedMeanwhile} before any effect when an event is due that was not prepared. */
  readonly apply: (isPrepared: (event: IntegrationEvent) => boolean) => Promise<Applied>;
};

/**
 * Another process changed the positions between the halves, e.g. released a stream. This counts as an outage: the batch
 * is tried again.
 */
export class MovedMeanwhile extends Outage {
  override readonly name = 'MovedMeanwhile';
}

/** How often the first half is repeated at once. */
export const PREPARED_ROUNDS_MAX = 5;

export async function inTwoHalves<Applied>({
  due,
  prepare,
  apply,
}: Halves<Applied>): Promise<Applied> {
  for (let round = 1; ; round += 1) {
    const events = await due();
    if (events.length > 0) await prepare(events);
    const ready = new Set(events.map(({ id }) => id));
    try {
      return await apply(({ id }) => ready.has(id));
    } catch (error) {
      if (!(error instanceof MovedMeanwhile) || round === PREPARED_ROUNDS_MAX) throw error;
    }
  }
}
