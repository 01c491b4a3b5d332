/** Mail to users: its requests and its sending. */
import type { DerivedKeys } from '@cardea/crypto';
import { mailTransports } from '@cardea/mail';
import { wakeSignal } from '@cardea/runtime';
import type { Module, ServiceDependencies } from '@cardea/service';
import { mailRelay } from './mail-relay.ts';
import { mailSender } from './mail-sender.ts';
import type { Recipients } from './mail-writer.ts';
import { devMailboxRoutes } from './mailboxes/dev-mailbox/dev-mailbox.route.ts';
import { mailQueueProjection } from './mailboxes/mail-queue.projection.ts';
import { mailboxes } from './mailboxes/mailbox.ts';
import { onetimes } from './onetimes/onetime.ts';

export { type CodeFault, type CodeRedemption, codeRedemption } from './code-redemption.ts';
export { mailLimit } from './mail-limit.ts';
export { type MailedFault, type MailOutbox, type MailRequest, mailOutbox } from './mail-outbox.ts';
export { devMailboxRoutes } from './mailboxes/dev-mailbox/dev-mailbox.route.ts';
export { type MailDetails, SECURITY_CHANGES, whenceOf } from './mailboxes/mail-details.ts';
export { INVITATION_TTL_MS, SECRET_TTL_MS, type SignInCode } from './mailboxes/mailbox.ts';
export { askerOf, drawChallenge, mailboxOfChallenge } from './mailed-code.ts';

type Dependencies = Pick<
  ServiceDependencies,
  | 'clock'
  | 'database'
  | 'ids'
  | 'log'
  | 'random'
  | 'sealer'
  | 'settings'
  | 'streams'
  | 'systemCommand'
> &
  Recipients & {
    /** Keys derived for `otp/v1`. */
    readonly codeKeys: DerivedKeys;
  };

export function mailModule(needs: Dependencies): Module {
  const { transport, folder } = mailTransports(needs);
  const newMail = wakeSignal(needs.clock);
  return {
    endpoints: folder === undefined ? [] : devMailboxRoutes(folder),
    projections: [mailQueueProjection(newMail.wake)],
    loops: [mailSender({ ...needs, transport }, newMail)],
    relay: mailRelay,
    stop: async () => transport?.close(),
    degraded: () =>
      transport === undefined
        ? { 'identity.smtp': 'SMTP_URL is not set: mail waits until it is' }
        : {},
  };
}

export const mailStreams = [mailboxes, onetimes];
