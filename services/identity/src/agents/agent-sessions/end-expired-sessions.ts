/** Says of every agent session that it has ended, within a minute, when it has run out or its login has. */
import { type Loop, sweeping } from '@cardea/service';
import type { Machines } from '../machines.ts';
import { endIfOver, endOne } from './end-many.ts';

const SWEEP_EVERY_MS = 10_000;
const BATCH_MAX = 500;

export const endExpiredSessions = (machines: Machines): Loop =>
  sweeping({
    name: 'identity.agent_sessions',
    everyMs: SWEEP_EVERY_MS,
    clock: machines.clock,
    sweep: (_signal, tick) => sweep(machines, tick),
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
  await sweepLogins(machines, tick);
}

/** Sessions by the token of a login that nobody has refreshed until it ran out. */
async function sweepLogins(machines: Machines, tick: () => void): Promise<void> {
  const { rows } = await machines.database.asSystem((sql) =>
    sql.query<{ id: string; tenant_id: string; subject_sid: string }>(
      `SELECT a.id, a.tenant_id, a.subject_sid FROM identity.agent_sessions a
       JOIN identity.sessions s ON s.id = a.subject_sid
       WHERE a.ended_at IS NULL AND s.expires_at <= $1 LIMIT $2`,
      [machines.clock.now(), BATCH_MAX],
    ),
  );
  for (const { id, tenant_id: tenantId, subject_sid: sid } of rows) {
    tick();
    await endIfOver(machines, { tenantId, id, cause: `login expired ${sid}` });
  }
}
