/** Performs what is due for accounts. Each decision reads the account itself, so a repeat changes nothing. */
import { accept } from '@cardea/event-store';
import { errorCode, failpoint, isConnectionLost, Outage } from '@cardea/runtime';
import { type Loop, type ServiceDependencies, sweeping } from '@cardea/service';
import type { EmailChanges } from '../email-changes.ts';
import type { UserDirectory } from '../user-directory.ts';
import { remindOfEmailChange } from '../users/change-email/change-email.ts';
import { remindOfDeletion } from '../users/delete-account/delete-account.ts';
import { releaseEmail } from '../users/emails-of-user.ts';
import { exists, users } from '../users/user.ts';
import type { DeadlineKind } from './deadlines.projection.ts';
import { type DeleteDueDependencies, deleteDueAccount } from './delete-due-account.ts';

type Dependencies = DeleteDueDependencies &
  Pick<ServiceDependencies, 'clock' | 'database' | 'log' | 'streams' | 'systemCommand'> & {
    readonly userDirectory: Pick<UserDirectory, 'byId'>;
    readonly emailChanges: Pick<EmailChanges, 'complete'>;
  };

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
        await meet(needs, due).catch((error: unknown) => {
          if (error instanceof Outage || isConnectionLost(error)) throw error;
          // The failure of one account does not delay the others. The next sweep tries it again.
          const { kind, user_id } = due;
          needs.log.error({ kind, user_id, error: errorCode(error) }, 'a deadline was not met');
        });
      }
    },
  });

async function meet(needs: Dependencies, due: Due): Promise<void> {
  const { user_id: id, kind, name, tenant_id: tenantId, due_at } = due;
  const { streams, clock } = needs;
  const own = needs.systemCommand(tenantId, 'due', id, kind, name, due_at.toISOString());
  // The time of this attempt, which may be a repeat.
  const command = { ...own, now: clock.now() };
  const { now } = command;
  switch (kind) {
    case 'previous_email':
      await streams.decideOn(users, id, command, (user) => {
        const released = exists(user) ? releaseEmail(user, { hash: name, now }) : null;
        return released === null ? accept() : accept(released);
      });
      return;
    case 'email_change': {
      const user = await needs.userDirectory.byId(tenantId, id);
      const changeId = exists(user) ? user.emailChange?.id : undefined;
      if (changeId === undefined) return;
      const byUser = { ...command.metadata, actor: { type: 'user', id } as const };
      const of = { tenantId, userId: id, changeId };
      await needs.emailChanges.complete(of, { ...command, metadata: byUser });
      return;
    }
    case 'email_change_reminder':
      await streams.decideOn(users, id, command, (user) => remindOfEmailChange({ now }, user));
      return;
    case 'deletion_reminder':
      await streams.decideOn(users, id, command, (user) => remindOfDeletion({ now }, user));
      return;
    case 'deletion':
      await failpoint('deletion.before_decide');
      await deleteDueAccount(needs, { tenantId, userId: id }, command);
  }
}
