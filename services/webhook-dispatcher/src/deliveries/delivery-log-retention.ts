/** Deletes rows of the delivery log after thirty days. The streams, which retries read, are kept for ever. */
import type { Database } from '@cardea/read-models';
import type { Clock } from '@cardea/runtime';
import { type Loop, sweeping } from '@cardea/service';

const KEPT_MS = 30 * 86_400_000;
const SWEEP_EVERY_MS = 3_600_000;
const ROWS_PER_STEP = 5_000;

const STEPS = [
  `DELETE FROM webhooks.attempts WHERE ctid = ANY(ARRAY(
     SELECT ctid FROM webhooks.attempts WHERE attempted_at < $1 LIMIT ${ROWS_PER_STEP}))`,
  `DELETE FROM webhooks.deliveries WHERE id = ANY(ARRAY(
     SELECT id FROM webhooks.deliveries d WHERE created_at < $1
       AND NOT EXISTS (SELECT FROM webhooks.queue q WHERE q.delivery_id = d.id)
     LIMIT ${ROWS_PER_STEP}))`,
];

type Dependencies = { readonly database: Database; readonly clock: Clock };

export const deliveryLogRetention = ({ database, clock }: Dependencies): Loop =>
  sweeping({
    name: 'webhooks-retention',
    everyMs: SWEEP_EVERY_MS,
    clock,
    sweep: async (signal, tick) => {
      const before = new Date(clock.now().getTime() - KEPT_MS);
      for (const step of STEPS) await inSteps(database, { step, before, signal, tick });
    },
  });

async function inSteps(
  database: Database,
  of: {
    readonly step: string;
    readonly before: Date;
    readonly signal: AbortSignal;
    readonly tick: () => void;
  },
): Promise<void> {
  let gone = ROWS_PER_STEP;
  while (gone === ROWS_PER_STEP && !of.signal.aborted) {
    gone = (await database.system.query(of.step, [of.before])).rowCount;
    of.tick();
  }
}
