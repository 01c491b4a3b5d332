/** Ends the grants that rest on something that is gone: a session, an agent, a user, a service. */
import { NotCaughtUp } from '@cardea/log-follower';
import type { ServiceDependencies } from '@cardea/service';
import type { Epochs } from '../epochs.ts';
import { grantKeys } from './grant-key.ts';
import { grantsAreLevel } from './grant-list.ts';
import { revokeGrant } from './revoke/revoke.ts';

type EndGrantsDependencies = Pick<
  ServiceDependencies,
  'store' | 'database' | 'positions' | 'streams' | 'systemCommand' | 'clock'
> & { readonly epochs: Epochs };

export type RevokedGrants = {
  readonly tenantId: string;
  /** Of what ended them: whoever repeats it ends nothing twice. */
  readonly eventId: string;
  readonly cause: string;
  /** Those of these columns that are named must be equal. */
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
  if (!(await grantsAreLevel(needs, CATCH_UP_MS))) {
    throw new NotCaughtUp('the table of grants is behind its log');
  }
  let after = '';
  for (;;) {
    const rows = await page(needs, ending, { after, now: needs.clock.now() });
    await Promise.all(rows.map((row) => end(needs, ending, row)));
    const last = rows.at(-1);
    if (last === undefined || rows.length < GRANTS_PER_PAGE) break;
    after = last.grant_id;
  }
  await needs.epochs.changed(ending.tenantId);
}

type Row = { readonly grant_id: string; readonly slot: string };

async function page(
  { database }: EndGrantsDependencies,
  { tenantId, where }: RevokedGrants,
  { after, now }: { readonly after: string; readonly now: Date },
): Promise<readonly Row[]> {
  const values: unknown[] = [tenantId, after, now];
  const conditions = Object.entries(where).map(
    ([column, value]) => `AND ${column} = $${values.push(value)}`,
  );
  const { rows } = await database.system.query<Row>(
    `SELECT grant_id, slot FROM vault.grants
     WHERE tenant_id = $1 AND grant_id > $2 AND expires_at > $3
       AND revoked_at IS NULL AND superseded_at IS NULL ${conditions.join(' ')}
     ORDER BY grant_id LIMIT ${GRANTS_PER_PAGE}`,
    values,
  );
  return rows;
}

async function end(
  needs: EndGrantsDependencies,
  { tenantId, eventId, cause }: RevokedGrants,
  row: Row,
): Promise<void> {
  const command = needs.systemCommand(tenantId, 'end', eventId, row.grant_id);
  await needs.streams.decideOn(grantKeys, row.slot, command, (slot) =>
    revokeGrant({ grantId: row.grant_id, cause, now: command.now }, slot),
  );
}
