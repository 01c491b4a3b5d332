/**
 * Erases values that no event names an hour after they were written. Their writes failed between the row and the event.
 * It reads the stream, never a table, because a table that lags would make it erase values in use.
 */
import { type RowOf, selection } from '@cardea/read-models';
import type { ServiceDependencies } from '@cardea/service';
import { type Loop, sweeping } from '@cardea/service';
import type { SecretStore } from '../adapters/secret-store.ts';
import type { Catalog } from './catalog.ts';

type SweepDependencies = Pick<ServiceDependencies, 'clock' | 'database'> & {
  readonly catalog: Catalog;
  readonly secrets: SecretStore;
};

const SWEEP_MS = 60_000;
const OLD_MS = 60 * 60_000;
const ROWS_MAX = 500;

const SECRET = selection({ tenant_id: 'text', owner_id: 'text', secret_id: 'uuid' });

export const sweepSecrets = (vault: SweepDependencies): Loop =>
  sweeping({
    name: 'vault-sweeper',
    everyMs: SWEEP_MS,
    clock: vault.clock,
    sweep: () => sweepOnce(vault),
  });

export async function sweepOnce(vault: SweepDependencies): Promise<void> {
  const before = new Date(vault.clock.now().getTime() - OLD_MS);
  const { rows } = await vault.database.system.query<RowOf<typeof SECRET>>(
    `SELECT ${SECRET.columns} FROM vault.secret_versions
     WHERE confirmed_at IS NULL AND blob IS NOT NULL AND created_at < $1
     ORDER BY created_at LIMIT ${ROWS_MAX}`,
    [before],
  );
  const owners = Map.groupBy(rows, ({ tenant_id, owner_id }) => `${tenant_id} ${owner_id}`);
  for (const mine of owners.values()) await sweepOwner(vault, mine);
}

async function sweepOwner(
  vault: SweepDependencies,
  rows: readonly RowOf<typeof SECRET>[],
): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const service = await vault.catalog.byId(first.tenant_id, first.owner_id);
  const named = new Set(
    service.status === 'registered'
      ? service.record.fields.flatMap(({ versions }) => versions.map((each) => each.secret_id))
      : [],
  );
  const ids = rows.map(({ secret_id }) => secret_id);
  const orphans = ids.filter((id) => !named.has(id));
  await vault.secrets.erase(first.tenant_id, orphans);
  await vault.database.system.query(
    `UPDATE vault.secret_versions SET confirmed_at = now()
     WHERE tenant_id = $1 AND secret_id = ANY($2::uuid[])`,
    [first.tenant_id, ids.filter((id) => named.has(id))],
  );
}
