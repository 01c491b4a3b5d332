/** Says of every agent session that has run out that it has ended, within a minute. */
import type { Loop } from '@cardea/service';
import type { Machines } from '../machines.ts';
import { endOne } from './end-many.ts';

const SWEEP_EVERY_MS = 10_000;
const TICK_MS = 4_000;
const BATCH_MAX = 500;

export const endExpiredSessions = (machines: Machines): Loop => ({
  name: 'identity.agent_sessions',
  leader: true,
  run: async (signal, tick) => {
    const { clock } = machines;
    let sweptMs = clock.monotonicMs() - SWEEP_EVERY_MS;
    while (!signal.aborted) {
      tick();
      if (clock.monotonicMs() - sweptMs >= SWEEP_EVERY_MS) {
        sweptMs = clock.monotonicMs();
        await sweep(machines, tick);
      }
      await clock.sleep(TICK_MS, signal);
    }
  },
});

async function sweep(machines: Machines, tick: () => void): Promise<void> {
  const { rows } = await machines.database.asSystem((sql) =>
    sql.query<{ id: string; tenant_id: string; expires_at: Date }>(
      `SELECT id, tenant_id, expires_at FROM identity.agent_sessions
       WHERE ended_at IS NULL AND expires_at <= $1 ORDER BY expires_at LIMIT $2`,
      [machines.clock.now(), BATCH_MAX],
    ),
  );
  for (const { id, tenant_id: tenantId, expires_at } of rows) {
    tick();
    const cause = `expired ${expires_at.toISOString()}`;
    await endOne(machines, { tenantId, id, reason: 'expired', cause });
  }
}
