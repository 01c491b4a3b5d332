/**
 * Notifies a user by mail that failed attempts of others blocked their account. It sends one mail each time the block
 * becomes longer.
 */
import type { Command, Recorded } from '@cardea/event-store';
import type { Clock } from '@cardea/runtime';
import { policy } from '@cardea/service';
import { exists, type UserDirectory } from '../../accounts/accounts.module.ts';
import type { MailOutbox } from '../../mail/mail.module.ts';
import type { SigninEvent } from '../../streams/signin.ts';

/** The maximum age of a block to notify of. A policy that was stopped for long skips blocks that have ended. */
const TOLD_WITHIN_MS = 60 * 60_000;

export type NotifyBlockedDependencies = {
  readonly clock: Pick<Clock, 'now'>;
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'emailOf'>;
  readonly mailOutbox: Pick<MailOutbox, 'request'>;
  readonly systemCommand: (tenantId: string, ...idParts: readonly string[]) => Command;
};

export const notifyBlocked = (deps: NotifyBlockedDependencies) =>
  policy<SigninEvent>()({
    name: 'notify_sign_in_blocked',
    on: {
      SignInFailed: (event) => notify(deps, event),
    },
  });

async function notify(
  { clock, userDirectory, mailOutbox, systemCommand }: NotifyBlockedDependencies,
  { id, data, metadata, time }: Recorded<SigninEvent, 'SignInFailed'>,
): Promise<void> {
  const { account_level: level, user_id: userId } = data;
  if (level === undefined || userId === null) return;
  if (clock.now().getTime() - time.getTime() > TOLD_WITHIN_MS) return;
  const { tenantId } = metadata;
  const user = await userDirectory.byId(tenantId, userId);
  if (!exists(user) || user.status !== 'active') return;
  const email = await userDirectory.emailOf(user);
  if (email === null) return;
  const { emailHash } = user;
  const command = systemCommand(tenantId, 'sign-in blocked', id);
  await mailOutbox.request({ purpose: 'sign_in_blocked', email, emailHash, userId }, command);
}
