/** Carries out what has become due for accounts. Each decision asks the account itself, so that a repeat changes nothing. */
import { accept } from '@cardea/event-store';
import { type Loop, type ServiceDependencies, sweeping } from '@cardea/service';
import { releaseEmail } from '../users/emails-of-user.ts';
import { exists, users } from '../users/user.ts';
import type { DeadlineKind } from './deadlines.projection.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'database' | 'streams' | 'systemCommand'>;

const SWEEP_EVERY_MS = 10_000;
const BATCH_MAX = 500;

type Due = {
  readonly user_id: string;
  readonly kind: DeadlineKind;
  readonly name: string;
  readonly tenant_id: string;
  readonly due_at: Date;
};

export const meetDeadlines = (needs: Dependencies): Loop =>
  sweeping({
    name: 'identity.account_deadlines',
    everyMs: SWEEP_EVERY_MS,
    clock: needs.clock,
    sweep: async (_signal, tick) => {
      const { rows } = await needs.database.system.query<Due>(
        `SELECT user_id, kind, name, tenant_id, due_at FROM identity.account_deadlines
           WHERE due_at <= $1 ORDER BY due_at LIMIT $2`,
        [needs.clock.now(), BATCH_MAX],
      );
      for (const due of rows) {
        tick();
        await meet(needs, due);
      }
    },
  });

async function meet(needs: Dependencies, due: Due): Promise<void> {
  const { user_id: id, kind, name, tenant_id: tenantId, due_at } = due;
  const command = needs.systemCommand(tenantId, 'due', id, kind, name, due_at.toISOString());
  switch (kind) {
    case 'previous_email':
      await needs.streams.decideOn(users, id, command, (user) => {
        const released = exists(user)
          ? releaseEmail(user, { hash: name, now: needs.clock.now() })
          : null;
        return released === null ? accept() : accept(released);
      });
  }
}
