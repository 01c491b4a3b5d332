/** Runs a decision on each object that was created or granted with an account before a given event. */
import type { Decision, DomainEvent, RecordedEvent, Stream } from '@cardea/event-store';
import { decideOnRows, type ServiceDependencies } from '@cardea/service';

type Dependencies = Pick<
  ServiceDependencies,
  'database' | 'positions' | 'streams' | 'systemCommand'
>;

/** Rows of a table of identity. Its projection has the same name. */
type MadeRows = {
  readonly table: 'agent_keys' | 'agents' | 'api_keys' | 'consents' | 'delegations';
  readonly userColumn: 'created_by' | 'user_id';
  readonly timeColumn: 'created_at' | 'granted_at';
  /** SQL condition for rows that have not ended. */
  readonly open: string;
};

type Ending<State, E extends DomainEvent, Reason extends string> = {
  readonly stream: Stream<State, E>;
  readonly decide: (now: Date, state: State) => Decision<E, Reason>;
};

const PAGE_ROWS = 256;
/** How long to wait until the table contains what was created before the event. */
const CATCH_UP_MS = 10_000;

export async function endMadeBeforeReclaim<State, E extends DomainEvent, Reason extends string>(
  needs: Dependencies,
  event: Pick<RecordedEvent, 'id' | 'metadata' | 'position'> & {
    readonly data: { readonly id: string; readonly at: string };
  },
  { table, userColumn, timeColumn, open }: MadeRows,
  { stream, decide }: Ending<State, E, Reason>,
): Promise<void> {
  const { id: cause, position, data, metadata } = event;
  const { tenantId } = metadata;
  const page = async (after: string) => {
    const { rows } = await needs.database.tenant(tenantId).query<{ id: string }>(
      `SELECT id FROM identity.${table} WHERE tenant_id = $1 AND ${userColumn} = $2
         AND ${timeColumn} <= $3 AND ${open} AND id > $4 ORDER BY id LIMIT $5`,
      [tenantId, data.id, data.at, after, PAGE_ROWS],
    );
    return rows;
  };
  await decideOnRows(
    needs,
    {
      projections: [table],
      position,
      waitMs: CATCH_UP_MS,
      pageRows: PAGE_ROWS,
      page,
      keyOf: ({ id }: { readonly id: string }) => id,
      firstKey: '',
    },
    {
      stream,
      decisionOn: ({ id }) => {
        const command = needs.systemCommand(tenantId, 'take back', cause, id);
        return { id, command, decide: (state) => decide(command.now, state) };
      },
    },
  );
}
