/**
 * When identity deletes a user, an agent or a tenant, deletes the tuples that name it, so that no tuple would apply if
 * the id were used again. Tuples that were written after the deletion arrived here stay.
 */
import { identityEvents } from '@cardea/contracts';
import { consumer, type Heard } from '@cardea/event-bus';
import { accept, type Decision, type EventStore, type Streams } from '@cardea/event-store';
import type { Database, Positions, RowOf } from '@cardea/read-models';
import { decideOnRows, type ServiceDependencies } from '@cardea/service';
import { nodeKey } from '../adapters/tuple-key.ts';
import { tupleRows } from '../adapters/tuple-rows.ts';
import { relationOf } from '../relations/relation.ts';
import { deleteTuple } from './change/delete.ts';
import { type Tuple, type TupleDeleted, tuples } from './tuple.ts';

type Dependencies = {
  readonly store: EventStore;
  readonly streams: Streams;
  readonly database: Database;
  readonly positions: Positions;
  readonly systemCommand: ServiceDependencies['systemCommand'];
};

const PAGE_TUPLES = 256;
const CATCH_UP_MS = 30_000;

type Deleted = Heard<typeof identityEvents, 'user.deleted' | 'agent.deleted' | 'tenant.deleted'>;

/** The consumer has no table, because its decisions are in the log. */
export const forgetPrincipals = (needs: Dependencies) =>
  consumer({
    name: 'authz',
    from: [identityEvents],
    on: {
      'user.deleted': { prepare: (event) => forget(needs, event) },
      'agent.deleted': { prepare: (event) => forget(needs, event) },
      'tenant.deleted': { prepare: (event) => forget(needs, event) },
    },
  });

/** The rows that name the deleted user, agent or tenant, as a condition on a tenant's tuples in SQL. */
function namedBy(event: Deleted): { where: string; values: readonly unknown[] } {
  switch (event.type) {
    case 'tenant.deleted':
      return { where: '', values: [] };
    case 'user.deleted':
    case 'agent.deleted': {
      const key = nodeKey(event.type === 'user.deleted' ? 'user' : 'agent', event.data.id);
      return { where: 'AND (subject_key = $4 OR object_key = $4)', values: [key] };
    }
  }
}

async function forget(needs: Dependencies, event: Deleted): Promise<void> {
  const head = await needs.store.head('authz');
  const named = namedBy(event);
  await decideOnRows(
    needs,
    {
      projections: ['tuples'],
      position: head,
      waitMs: CATCH_UP_MS,
      pageRows: PAGE_TUPLES,
      page: (after) => page(needs.database, { event, after, through: head, named }),
      keyOf: ({ position }) => position,
      firstKey: '0',
    },
    { stream: tuples, decisionOn: (row) => removal(needs, event, row) },
  );
}

const NAMED = tupleRows.select(
  'position',
  'key',
  'id',
  'relation',
  'own_relation',
  'user_type',
  'user_id',
  'object_type',
  'object_id',
);
type NamedTuple = RowOf<typeof NAMED>;

/** Pages by position, so that a page never contains rows whose deletion the table has yet to apply. */
async function page(
  database: Database,
  of: {
    readonly event: Deleted;
    readonly after: string;
    readonly through: bigint;
    readonly named: ReturnType<typeof namedBy>;
  },
): Promise<readonly NamedTuple[]> {
  const { rows } = await database.system.query<NamedTuple>(
    `SELECT ${NAMED.columns} FROM authz.tuples
     WHERE tenant_id = $1 AND position > $2 AND position <= $3 ${of.named.where}
     ORDER BY position LIMIT ${PAGE_TUPLES}`,
    [of.event.tenantId, of.after, of.through.toString(), ...of.named.values],
  );
  return rows;
}

function removal({ systemCommand }: Dependencies, event: Deleted, row: NamedTuple) {
  const id = row.key.toString('hex');
  const { user_type, user_id, object_type, object_id } = row;
  const relation = relationOf(row);
  const fields = { user_type, user_id, relation, object_type, object_id };
  return {
    id,
    command: systemCommand(event.tenantId, event.id, id),
    decide: (tuple: Tuple): Decision<TupleDeleted, never> => {
      const isAnother = tuple.status === 'standing' && tuple.id !== row.id;
      return isAnother ? accept() : deleteTuple(fields, tuple);
    },
  };
}
