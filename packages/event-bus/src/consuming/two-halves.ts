import type { IntegrationEvent } from '@cardea/contracts';
import { Outage } from '@cardea/runtime';

/**
 * The work of a consumer in two halves, so that no connection is held while another one, an append or a
 * projection is waited for. The first half is outside of any transaction and sees without a lock what is due;
 * the second is the transaction, which locks, looks again, and goes back when more is due than was prepared.
 */
export type Halves<Applied> = {
  /** What is due as far as can be seen without a lock; too much does no harm. */
  readonly due: () => Promise<readonly IntegrationEvent[]>;
  readonly prepare: (events: readonly IntegrationEvent[]) => Promise<void>;
  /** Throws {@link MovedMeanwhile} before any effect when something is due that was not prepared. */
  readonly apply: (isPrepared: (event: IntegrationEvent) => boolean) => Promise<Applied>;
};

/** Another process got between the halves, e.g. released a stream. An outage: the batch is tried again. */
export class MovedMeanwhile extends Outage {
  override readonly name = 'MovedMeanwhile';
}

/** Times that the first half is done again at once. */
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
