/** Keeps `mail_queue`: what was asked for and is still to be sent. */
import { type Projected, type Projection, patch, put, remove } from '@cardea/read-models';
import type { MailboxEvent } from './mailbox.ts';

type On<T extends MailboxEvent['type']> = Projected<Extract<MailboxEvent, { type: T }>['data']>;

const NOUN = 'mailbox-';
const keyOf = (event: On<'MailRequested' | 'MailDeferred' | 'MailSettled'>) => ({
  mailbox: event.streamId.slice(NOUN.length),
  purpose: event.data.purpose,
  generation: event.data.generation,
});

/** `wake` is called in the process that ran the batch when there is new mail. */
export const mailQueueProjection = (wake: () => void): Projection => ({
  name: 'mail_queue',
  log: 'identity',
  tables: [
    {
      name: 'mail_queue',
      key: ['mailbox', 'purpose', 'generation'],
      columns: {
        mailbox: 'text',
        purpose: 'text',
        generation: 'integer',
        tenant_id: 'text',
        attempts: 'integer',
        due_at: 'timestamptz',
      },
    },
  ],
  on: {
    MailRequested: (event: On<'MailRequested'>) => [
      {
        table: 'mail_queue',
        change: put({
          ...keyOf(event),
          tenant_id: event.metadata.tenantId,
          attempts: 0,
          due_at: event.data.at,
        }),
      },
    ],
    MailDeferred: (event: On<'MailDeferred'>) => [
      {
        table: 'mail_queue',
        change: patch(keyOf(event), { attempts: event.data.attempts, due_at: event.data.retry_at }),
      },
    ],
    MailSettled: (event: On<'MailSettled'>) => [
      { table: 'mail_queue', change: remove(keyOf(event)) },
    ],
  },
  onCommitted: (events) => {
    if (events.some((event) => event.type === 'MailRequested')) wake();
  },
});
