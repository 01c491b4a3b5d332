/**
 * Makes bodies about a deleted user unreadable when none of them is to be sent any more, at most three hours after the
 * deletion was received.
 */
import { type IntegrationEvent, identityEvents } from '@cardea/contracts';
import type { Sealer } from '@cardea/crypto';
import type { EventStore } from '@cardea/event-store';
import {
  type Database,
  type Positions,
  rowStatements,
  type Statement,
  table,
} from '@cardea/read-models';
import type { Clock } from '@cardea/runtime';
import { type Loop, sweeping } from '@cardea/service';
import { DELIVERIES_TABLE } from './deliveries.projection.ts';

/** Longer than the whole schedule of a delivery. */
const PATIENCE_MS = 3 * 3_600_000;
const SWEEP_EVERY_MS = 15_000;
const TABLE_WAIT_MS = 1_000;
const SUBJECTS_MAX = 500;

type Dependencies = {
  readonly store: EventStore;
  readonly database: Database;
  readonly positions: Positions;
  readonly sealer: Pick<Sealer, 'erase'>;
  readonly clock: Clock;
};

const erasures = table('erasures', {
  key: ['subject'],
  columns: { subject: 'text', tenant_id: 'text', due_at: 'timestamptz' },
});

/** Stores a note about each deleted user, in the transaction that also stores that the deletion was received. */
export const notesOfDeletedUsers = (
  events: readonly IntegrationEvent[],
  now: Date,
): readonly Statement[] =>
  rowStatements(
    { schema: 'webhooks', tables: [erasures] },
    events.flatMap((event) => {
      const deleted = identityEvents.dataOf(event, 'user.deleted');
      if (deleted === undefined) return [];
      const due_at = new Date(now.getTime() + PATIENCE_MS);
      return erasures.insert({ subject: `user:${deleted.id}`, tenant_id: event.tenantId, due_at });
    }),
  );

export const eraseDeletedUsers = (needs: Dependencies): Loop =>
  sweeping({
    name: 'webhooks-erasures',
    everyMs: SWEEP_EVERY_MS,
    clock: needs.clock,
    sweep: () => sweep(needs),
  });

const READY = `SELECT e.subject FROM webhooks.erasures e
  WHERE e.due_at <= $1
    OR ($2 AND NOT EXISTS (SELECT FROM webhooks.queue q WHERE q.subject = e.subject))
  LIMIT ${SUBJECTS_MAX}`;

async function sweep({ store, database, positions, sealer, clock }: Dependencies): Promise<void> {
  // Deliveries that were scheduled before the note may not be in the queue yet.
  const head = await store.head(store.log);
  const level = await positions.reached([DELIVERIES_TABLE], head, TABLE_WAIT_MS);
  const { rows } = await database.system.query<{ subject: string }>(READY, [clock.now(), level]);
  for (const { subject } of rows) {
    await sealer.erase(subject);
    await database.system.query('DELETE FROM webhooks.erasures WHERE subject = $1', [subject]);
  }
}
