/** Applies the events of a parked stream, in order, and ends its parking. */
import { PARKED_CHANNEL } from '@cardea/log-follower';
import type { Transaction } from '@cardea/read-models';
import { type At, effectsOf, ofTypes } from './applying.ts';
import { tell } from './telling.ts';
import { inTwoHalves, MovedMeanwhile } from './two-halves.ts';
import { firstWaiting, forgetWaiting } from './waiting-events.ts';

const RELEASED_EVENTS_MAX = 200;

/** Throws when an event fails again. */
export const release = async (at: At, stream: string): Promise<void> => {
  while ((await releaseSome(at, stream)) === RELEASED_EVENTS_MAX) {}
  const { schema, owner } = at.parked;
  await at.needs.database.system.query(`SELECT pg_notify('${PARKED_CHANNEL}', $1)`, [
    `${schema} ${owner}`,
  ]);
};

/**
 * Applies the first waiting events in one transaction. `apply` looks for parked streams in a transaction that holds the
 * partition's row lock, so this transaction takes that lock too.
 */
const releaseSome = async (at: At, stream: string): Promise<number> => {
  const { consumer, needs, positions, parked } = at;
  const waitingIn = (sql: Transaction) => firstWaiting(sql, parked, stream, RELEASED_EVENTS_MAX);
  const { events, answers } = await inTwoHalves({
    due: () => needs.database.asSystem(waitingIn),
    prepare: async (waiting) => consumer.prepare?.(ofTypes(consumer.preparedTypes, waiting)),
    apply: (isPrepared) =>
      needs.database.asSystem(async (transaction) => {
        await positions.lockAll(transaction);
        const waiting = await waitingIn(transaction);
        if (!waiting.every(isPrepared)) throw new MovedMeanwhile();
        const toApply = ofTypes(consumer.appliedTypes, waiting);
        const effects = await effectsOf(consumer, toApply, transaction);
        const answers = effects.length > 0 ? await transaction.together(effects) : [];
        await forgetWaiting(transaction, parked, waiting);
        return { events: waiting, answers };
      }),
  });
  if (events.length > 0) await tell(at, async () => consumer.onCommitted?.(events, answers));
  return events.length;
};
