/** Deletes tenants that were closed 30 days ago, with at most an hour's delay. */
import { type Loop, type ServiceDependencies, sweeping } from '@cardea/service';
import { tenants } from '../tenant.ts';
import { DELETED_WITHIN_MS, deleteTenant } from './delete.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'database' | 'streams' | 'systemCommand'>;

const BATCH_MAX = 100;

export const deleteClosedTenants = (needs: Dependencies): Loop =>
  sweeping({
    name: 'identity.closed_tenants',
    everyMs: DELETED_WITHIN_MS,
    clock: needs.clock,
    sweep: (_signal, tick) => sweepClosedTenants(needs, tick),
  });

export async function sweepClosedTenants(needs: Dependencies, tick: () => void): Promise<void> {
  const { rows } = await needs.database.system.query<{ id: string }>(
    `SELECT id FROM identity.tenants WHERE shred_at <= $1 ORDER BY shred_at LIMIT $2`,
    [needs.clock.now(), BATCH_MAX],
  );
  for (const { id } of rows) {
    tick();
    const command = needs.systemCommand(id, 'delete tenant', id);
    await needs.streams.decideOn(tenants, id, command, (tenant) =>
      deleteTenant(command.now, tenant),
    );
  }
}
