/** Publishes requests for mails, with their purposes. */
import type { identityEvents } from '@cardea/contracts';
import { relay } from '@cardea/event-bus';
import type { MailboxEvent } from './mailboxes/mailbox.ts';
import type { OnetimeEvent } from './onetimes/onetime.ts';

export const mailRelay = relay<MailboxEvent | OnetimeEvent, typeof identityEvents>({
  MailRequested: ({ data }) => ({
    type: 'mail.requested',
    data: { purpose: data.purpose, user_id: data.user_id },
  }),
  // No account was looked up.
  CodeFailed: ({ data }) => ({
    type: 'user.login_failed',
    data: {
      user_id: null,
      method: data.purpose,
      reason: 'invalid_credentials',
      failures: data.failures,
      blocked_until: null,
    },
  }),
});
