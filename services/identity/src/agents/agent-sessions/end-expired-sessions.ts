/** Records the end of every agent session within a minute after it or its login session has expired. */

import { type Loop, type ServiceDependencies, sweeping } from '@cardea/service';
import type { UserDirectory } from '../../accounts/accounts.module.ts';
import { endIfOver, endOne } from './end-many.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'clock' | 'database' | 'streams' | 'systemCommand'
> & {
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
};

const SWEEP_EVERY_MS = 10_000;
const BATCH_MAX = 500;

export const endExpiredSessions = (needs: Dependencies): Loop =>
  sweeping({
    name: 'identity.agent_sessions',
    everyMs: SWEEP_EVERY_MS,
    clock: needs.clock,
    sweep: (_signal, tick) => sweep(needs, tick),
  });

async function sweep(needs: Dependencies, tick: () => void): Promise<void> {
  const { rows } = await needs.database.system.query<{
    id: string;
    tenant_id: string;
    expires_at: Date;
  }>(
    `SELECT id, tenant_id, expires_at FROM identity.agent_sessions
       WHERE ended_at IS NULL AND expires_at <= $1 ORDER BY expires_at LIMIT $2`,
    [needs.clock.now(), BATCH_MAX],
  );
  for (const { id, tenant_id: tenantId, expires_at } of rows) {
    tick();
    const cause = `expired ${expires_at.toISOString()}`;
    await endOne(needs, { tenantId, id, reason: 'expired', cause });
  }
  await sweepLogins(needs, tick);
}

/** Ends sessions by the token of a login session that expired without a refresh. */
async function sweepLogins(needs: Dependencies, tick: () => void): Promise<void> {
  const { rows } = await needs.database.system.query<{
    id: string;
    tenant_id: string;
    subject_sid: string;
  }>(
    `SELECT a.id, a.tenant_id, a.subject_sid FROM identity.agent_sessions a
       JOIN identity.sessions s ON s.id = a.subject_sid
       WHERE a.ended_at IS NULL AND s.expires_at <= $1 LIMIT $2`,
    [needs.clock.now(), BATCH_MAX],
  );
  for (const { id, tenant_id: tenantId, subject_sid: sid } of rows) {
    tick();
    await endIfOver(needs, { tenantId, id, cause: `login expired ${sid}` });
  }
}
