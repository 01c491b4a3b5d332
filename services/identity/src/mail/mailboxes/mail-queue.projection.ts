/** Maintains `mail_queue`, the requested mails that are still to be sent. */
import type { Recorded } from '@cardea/event-store';
import { projection, table } from '@cardea/read-models';
import type { MailboxEvent } from './mailbox.ts';

const NOUN = 'mailbox-';
const keyOf = (event: Recorded<MailboxEvent>) => ({
  mailbox: event.streamId.slice(NOUN.length),
  purpose: event.data.purpose,
  generation: event.data.generation,
});

const rows = table('mail_queue', {
  key: ['mailbox', 'purpose', 'generation'],
  columns: {
    mailbox: 'text',
    purpose: 'text',
    generation: 'integer',
    tenant_id: 'text',
    attempts: 'integer',
    due_at: 'timestamptz',
  },
});

/** `wake` is called in every process when there may be new mail. */
export const mailQueueProjection = (wake: () => void) =>
  projection<MailboxEvent>()({
    name: 'mail_queue',
    log: 'identity',
    tables: [rows],
    on: {
      MailRequested: (event) => [
        rows.put({
          ...keyOf(event),
          tenant_id: event.metadata.tenantId,
          attempts: 0,
          due_at: event.data.due_at ?? event.data.at,
        }),
      ],
      MailDeferred: (event) => [
        rows.patch(keyOf(event), { attempts: event.data.attempts, due_at: event.data.retry_at }),
      ],
      MailSettled: (event) => [rows.remove(keyOf(event))],
    },
    onCommitted: (events) => {
      if (events.some((event) => event.type === 'MailRequested')) wake();
    },
    onAppliedElsewhere: wake,
  });
