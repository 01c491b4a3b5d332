/**
 * Records in the log what the clock has decided: expiries and escalations. Nothing depends on its speed: readers treat
 * overdue requests as expired and escalated ones as escalated already. Only the notification of a second approver waits
 * for it.
 */
import { computed, type RowOf } from '@cardea/read-models';
import { failpoint } from '@cardea/runtime';
import type { Loop, ServiceDependencies } from '@cardea/service';
import { SWEEP_AGAIN_MS, SWEEP_REST_MS, SWEEP_ROWS_MAX } from '../../limits.ts';
import type { Changes } from '../changes.ts';
import { endRequest } from '../read-request.ts';
import { requests } from '../request.ts';
import { requestRows } from '../requests.projection.ts';
import { escalate } from './escalate.ts';

type SweeperDependencies = Pick<
  ServiceDependencies,
  'database' | 'clock' | 'streams' | 'systemCommand'
> & { readonly changes: Changes };

const REQUEST = requestRows.select('tenant_id', 'id');
const EXPIRES = REQUEST.and(computed('at', 'expires_at', 'timestamptz')).and(
  computed('escalates', 'false', 'boolean'),
);
const ESCALATES = REQUEST.and(computed('at', 'escalates_at', 'timestamptz')).and(
  computed('escalates', 'true', 'boolean'),
);
type DueRequest = RowOf<typeof EXPIRES>;

/** Requests that are recorded in parallel. */
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

/** Each part reads from an index of its own. */
const DUE = `
  (SELECT ${EXPIRES.columns} FROM approval.requests
   WHERE status = 'pending' AND expires_at <= $1 ORDER BY expires_at LIMIT ${SWEEP_ROWS_MAX})
  UNION ALL
  (SELECT ${ESCALATES.columns} FROM approval.requests
   WHERE status = 'pending' AND escalated_at IS NULL AND escalates_at <= $1
   ORDER BY escalates_at LIMIT ${SWEEP_ROWS_MAX})
  ORDER BY at LIMIT ${SWEEP_ROWS_MAX}`;

/** Records up to `SWEEP_ROWS_MAX` requests. Rows may lag, so a request may be recorded twice, without effect. */
async function sweep(
  approval: SweeperDependencies,
  tick: () => void,
): Promise<{ readonly isFull: boolean; readonly nextMs: number }> {
  const now = approval.clock.now();
  const until = new Date(now.getTime() + SWEEP_REST_MS);
  const found = await approval.database.system.query<DueRequest>(DUE, [until]);
  const rows = found.rows.filter(({ at }) => at <= now);
  for (let at = 0; at < rows.length; at += LANES) {
    tick();
    await Promise.all(rows.slice(at, at + LANES).map((row) => record(approval, row)));
  }
  const next = found.rows[rows.length];
  const untilNextMs = next === undefined ? SWEEP_REST_MS : next.at.getTime() - now.getTime();
  return {
    isFull: rows.length === SWEEP_ROWS_MAX,
    // Some of the overdue requests may still be pending, so the next sweep comes soon.
    nextMs: rows.length > 0 ? SWEEP_AGAIN_MS : Math.max(untilNextMs, 1),
  };
}

async function record(
  approval: SweeperDependencies,
  { tenant_id: tenantId, id, escalates }: DueRequest,
): Promise<void> {
  if (!escalates) return void (await endRequest(approval, { tenantId, id, cause: 'time' }));
  const command = approval.systemCommand(tenantId, 'escalate', id);
  await failpoint('escalation.before_event');
  await approval.streams.decideOn(requests, id, command, (request) =>
    escalate(command.now, request),
  );
}
