/**
 * When identity deletes a user, an agent or a tenant, the tuples that name it go with it, so that
 * nothing waits for an id to come back. Tuples written after the deletion was heard of stay.
 */
import { type IntegrationEvent, identityEvents, topicOf } from '@cardea/contracts';
import type { Consumer } from '@cardea/event-bus';
import { accept, type EventStore, type Streams } from '@cardea/event-store';
import { type Database, DatabaseUnavailable, type Positions } from '@cardea/read-models';
import type { ServiceNeeds } from '@cardea/service';
import { nodeKey } from '../adapters/tuple-key.ts';
import { deleteTuple } from './delete/delete.ts';
import { RELATIONS, type Relation, tuples } from './tuple.ts';

type Needs = {
  readonly store: EventStore;
  readonly streams: Streams;
  readonly database: Database;
  readonly positions: Positions;
  readonly systemCommand: ServiceNeeds['systemCommand'];
};

const PAGE_TUPLES = 256;
const CATCH_UP_MS = 30_000;

export const forgetPrincipals = (needs: Needs): Consumer => ({
  name: 'authz',
  topics: [topicOf('identity')],
  types: ['user.deleted', 'agent.deleted', 'tenant.deleted'],
  prepare: async (events) => {
    for (const event of events) await forget(needs, event);
  },
  // It keeps no rows of its own: what it decided is in the log.
  handle: async () => undefined,
});

/** The rows that name whoever was deleted, as SQL over a tenant's tuples. */
function namedBy(event: IntegrationEvent): { where: string; values: readonly unknown[] } {
  const user = identityEvents.dataOf(event, 'user.deleted');
  const agent = identityEvents.dataOf(event, 'agent.deleted');
  if (user === undefined && agent === undefined) return { where: '', values: [] };
  const key = user === undefined ? nodeKey('agent', agent?.id ?? '') : nodeKey('user', user.id);
  return { where: 'AND (subject_key = $4 OR object_key = $4)', values: [key] };
}

async function forget(needs: Needs, event: IntegrationEvent): Promise<void> {
  const head = await needs.store.head('authz');
  if (!(await needs.positions.reached(['tuples'], head, CATCH_UP_MS))) {
    throw new DatabaseUnavailable('the table of tuples is behind its log');
  }
  const named = namedBy(event);
  let after = '0';
  for (;;) {
    const rows = await page(needs.database, { event, after, through: head, named });
    await Promise.all(rows.map((row) => remove(needs, event, row)));
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE_TUPLES) return;
    after = last.position;
  }
}

type Row = {
  readonly position: string;
  readonly key: Buffer;
  readonly id: string;
  readonly relation: number;
  readonly user_type: string;
  readonly user_id: string;
  readonly object_type: string;
  readonly object_id: string;
};

/** By position, so that a page never holds what the table has not yet let go of. */
async function page(
  database: Database,
  of: {
    readonly event: IntegrationEvent;
    readonly after: string;
    readonly through: bigint;
    readonly named: ReturnType<typeof namedBy>;
  },
): Promise<readonly Row[]> {
  const { rows } = await database.system.query<Row>(
    `SELECT position, key, id, relation, user_type, user_id, object_type, object_id FROM authz.tuples
     WHERE tenant_id = $1 AND position > $2 AND position <= $3 ${of.named.where}
     ORDER BY position LIMIT ${PAGE_TUPLES}`,
    [of.event.tenantId, of.after, of.through.toString(), ...of.named.values],
  );
  return rows;
}

async function remove(needs: Needs, event: IntegrationEvent, row: Row): Promise<void> {
  const id = row.key.toString('hex');
  const command = needs.systemCommand(event.tenantId, event.id, id);
  const { user_type, user_id, object_type, object_id } = row;
  const relation = RELATIONS[row.relation] as Relation;
  const fields = { user_type, user_id, relation, object_type, object_id };
  await needs.streams.decideOn(tuples, id, command, (tuple) => {
    const isAnother = tuple.status === 'standing' && tuple.id !== row.id;
    return isAnother ? accept() : deleteTuple(fields, tuple);
  });
}
