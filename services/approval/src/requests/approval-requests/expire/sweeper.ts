/**
 * Records expiry in the log. Nothing depends on its speed: readers treat overdue requests as expired
 * already.
 */
import type { Loop, ServiceDependencies } from '@cardea/service';
import { SWEEP_AGAIN_MS, SWEEP_REST_MS, SWEEP_ROWS_MAX } from '../../limits.ts';
import type { Changes } from '../changes.ts';
import { endRequest } from '../read-request.ts';

type SweeperDependencies = Pick<
  ServiceDependencies,
  'database' | 'clock' | 'streams' | 'systemCommand'
> & { readonly changes: Changes };

type Row = { readonly tenant_id: string; readonly id: string; readonly expires_at: Date };

/** Requests that are expired in parallel. */
const LANES = 16;

export const sweeper = (approval: SweeperDependencies): Loop => ({
  name: 'approval.sweeper',
  leader: true,
  run: async (signal, tick) => {
    while (!signal.aborted) {
      tick();
      const { isFull, nextMs } = await sweep(approval, tick);
      if (!isFull) await approval.clock.sleep(nextMs, signal);
    }
  },
});

/** Expires up to `SWEEP_ROWS_MAX` requests; rows may lag, so one may be expired twice, to no effect. */
async function sweep(
  approval: SweeperDependencies,
  tick: () => void,
): Promise<{ readonly isFull: boolean; readonly nextMs: number }> {
  const now = approval.clock.now();
  const found = await approval.database.system.query<Row>(
    `SELECT tenant_id, id, expires_at FROM approval.requests
     WHERE status = 'pending' AND expires_at <= $1 ORDER BY expires_at LIMIT ${SWEEP_ROWS_MAX}`,
    [new Date(now.getTime() + SWEEP_REST_MS)],
  );
  const rows = found.rows.filter(({ expires_at: at }) => at <= now);
  for (let at = 0; at < rows.length; at += LANES) {
    tick();
    const some = rows.slice(at, at + LANES);
    await Promise.all(
      some.map(({ tenant_id: tenantId, id }) =>
        endRequest(approval, { tenantId, id, cause: 'time' }),
      ),
    );
  }
  const next = found.rows[rows.length];
  const untilNextMs =
    next === undefined ? SWEEP_REST_MS : next.expires_at.getTime() - now.getTime();
  return {
    isFull: rows.length === SWEEP_ROWS_MAX,
    // An overdue request that is still pending was not to be expired just now.
    nextMs: rows.length > 0 ? SWEEP_AGAIN_MS : Math.max(untilNextMs, 1),
  };
}
