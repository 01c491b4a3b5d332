/**
 * Records expiry in the log. Nothing depends on its speed: readers treat overdue requests as expired
 * already.
 */
import type { Loop, ServiceDependencies } from '@cardea/service';
import { SWEEP_EVERY_MS, SWEEP_ROWS_MAX } from '../../limits.ts';
import type { Changes } from '../changes.ts';
import { endRequest } from '../read-request.ts';

type SweeperDependencies = Pick<
  ServiceDependencies,
  'database' | 'clock' | 'streams' | 'systemCommand'
> & { readonly changes: Changes };

/** Requests that are expired in parallel. */
const LANES = 16;

export const sweeper = (approval: SweeperDependencies): Loop => ({
  name: 'approval.sweeper',
  leader: true,
  run: async (signal, tick) => {
    while (!signal.aborted) {
      tick();
      const swept = await sweep(approval, tick);
      if (swept < SWEEP_ROWS_MAX) await approval.clock.sleep(SWEEP_EVERY_MS, signal);
    }
  },
});

/** Expires up to `SWEEP_ROWS_MAX` requests; rows may lag, so one may be expired twice, to no effect. */
async function sweep(approval: SweeperDependencies, tick: () => void): Promise<number> {
  const { rows } = await approval.database.system.query<{ tenant_id: string; id: string }>(
    `SELECT tenant_id, id FROM approval.requests
     WHERE status = 'pending' AND expires_at <= $1 ORDER BY expires_at LIMIT ${SWEEP_ROWS_MAX}`,
    [approval.clock.now()],
  );
  for (let at = 0; at < rows.length; at += LANES) {
    tick();
    const some = rows.slice(at, at + LANES);
    await Promise.all(
      some.map(({ tenant_id: tenantId, id }) =>
        endRequest(approval, { tenantId, id, cause: 'time' }),
      ),
    );
  }
  return rows.length;
}
