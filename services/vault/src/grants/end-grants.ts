/** Ends the grants of a session, an agent, a user or a service that was deleted or ended. */
import type { RowOf } from '@cardea/read-models';
import { decideOnRows, type ServiceDependencies } from '@cardea/service';
import type { Epochs } from '../epochs.ts';
import { grantKeys } from './grant-key.ts';
import { grantRows } from './grants.projection.ts';
import { revokeGrant } from './revoke/revoke.ts';

type EndGrantsDependencies = Pick<
  ServiceDependencies,
  'store' | 'database' | 'positions' | 'streams' | 'systemCommand' | 'clock'
> & { readonly epochs: Epochs };

export type RevokedGrants = {
  readonly tenantId: string;
  /** The id of the event that ended them, so that a repeat ends nothing twice. */
  readonly eventId: string;
  readonly cause: string;
  /** The columns to filter by. Those that are named must be equal. */
  readonly where: {
    readonly session_id?: string;
    readonly agent_id?: string;
    readonly user_id?: string;
    readonly service_id?: string;
  };
};

const CATCH_UP_MS = 30_000;
const GRANTS_PER_PAGE = 500;

export async function endGrants(
  needs: EndGrantsDependencies,
  ending: RevokedGrants,
): Promise<void> {
  const { tenantId, eventId, cause } = ending;
  await decideOnRows(
    needs,
    {
      projections: ['grants'],
      position: await needs.store.head('vault'),
      waitMs: CATCH_UP_MS,
      pageRows: GRANTS_PER_PAGE,
      page: (after) => page(needs, ending, { after, now: needs.clock.now() }),
      keyOf: ({ grant_id }) => grant_id,
      firstKey: '',
    },
    {
      stream: grantKeys,
      decisionOn: ({ grant_id: grantId, slot: id }) => {
        const command = needs.systemCommand(tenantId, 'end', eventId, grantId);
        const revoke = { grantId, cause, now: command.now };
        return { id, command, decide: (grantKey) => revokeGrant(revoke, grantKey) };
      },
    },
  );
  await needs.epochs.changed(ending.tenantId);
}

const ENDED = grantRows.select('grant_id', 'slot');

async function page(
  { database }: EndGrantsDependencies,
  { tenantId, where }: RevokedGrants,
  { after, now }: { readonly after: string; readonly now: Date },
): Promise<readonly RowOf<typeof ENDED>[]> {
  const values: unknown[] = [tenantId, after, now];
  const conditions = Object.entries(where).map(
    ([column, value]) => `AND ${column} = $${values.push(value)}`,
  );
  const { rows } = await database.system.query<RowOf<typeof ENDED>>(
    `SELECT ${ENDED.columns} FROM vault.grants
     WHERE tenant_id = $1 AND grant_id > $2 AND expires_at > $3
       AND revoked_at IS NULL AND superseded_at IS NULL ${conditions.join(' ')}
     ORDER BY grant_id LIMIT ${GRANTS_PER_PAGE}`,
    values,
  );
  return rows;
}
