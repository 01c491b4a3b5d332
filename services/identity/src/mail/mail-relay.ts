/** What other services hear of mail: that it was asked for, and what for. */
import { integrationEvent, relayOf } from '../streams/integration-events.ts';
import type { MailboxEvent } from './mailboxes/mailbox.ts';

export const mailRelay = relayOf<MailboxEvent>({
  MailRequested: ({ data }) =>
    integrationEvent('mail.requested', { purpose: data.purpose, user_id: data.user_id }),
});
