/** Sends requested mails, and retries after failures. */
import type { Command } from '@cardea/event-store';
import { type MailTransport, outboxLoop } from '@cardea/mail';
import { type Database, dueInTurns } from '@cardea/read-models';
import { type Clock, type Logger, metrics, type WakeSignal } from '@cardea/runtime';
import type { Loop } from '@cardea/service';
import { type Waiting as MailOfQueue, type WriterDependencies, writeMail } from './mail-writer.ts';
import { deferMail, type MailOutcome, mailboxes, settleMail } from './mailboxes/mailbox.ts';

/** The pause after each failure. After the last one the mail is dropped with an alarm. */
const RETRY_AFTER_MS = [60_000, 5 * 60_000, 30 * 60_000, 2 * 3600_000];
const CANNOT_SEND = 'mail waits and cannot be sent: SMTP_URL is not set';

type Waiting = MailOfQueue & {
  readonly attempts: number;
  readonly due_at: Date;
};

type Dependencies = WriterDependencies & {
  readonly database: Pick<Database, 'system'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Undefined if mail is not configured. Mails are then not stored anywhere else either. */
  readonly transport: MailTransport | undefined;
};

/** Call `newMail.wake` when there is new mail. */
export const mailSender = (needs: Dependencies, newMail: WakeSignal): Loop =>
  outboxLoop<Waiting>(
    {
      name: 'identity.mail',
      due: ({ now, until }, limit) => dueMail(needs, [now, until, limit]),
      dueAt: ({ due_at }) => due_at,
      tenantOf: ({ tenant_id }) => tenant_id,
      keyOf: ({ mailbox, purpose, generation }) => `${mailbox} ${purpose} ${generation}`,
      loggedOf: ({ purpose }) => ({ purpose }),
      send: (waiting) => deliver(needs, waiting),
      retryAfterMs: RETRY_AFTER_MS,
      putOff: (waiting, next) => putOff(needs, waiting, next),
      giveUp: (waiting) => settle(needs, waiting, 'given_up'),
      cannotSend: needs.transport === undefined ? CANNOT_SEND : undefined,
    },
    { ...needs, signal: newMail },
  );

const DUE_MAIL = dueInTurns({
  table: 'identity.mail_queue',
  columns: 'mailbox, purpose, generation, tenant_id, attempts, due_at',
  dueAt: 'due_at',
});

async function dueMail(
  { database }: Dependencies,
  values: readonly [now: Date, until: Date, limit: number],
): Promise<readonly Waiting[]> {
  return (await database.system.query<Waiting>(DUE_MAIL, values)).rows;
}

async function deliver(needs: Dependencies, waiting: Waiting): Promise<void> {
  if (needs.transport === undefined) throw new Error(CANNOT_SEND);
  const written = await writeMail(needs, waiting);
  if (written === 'settled') return;
  if (typeof written === 'string') return settle(needs, waiting, written);
  await needs.transport.send(written);
  await settle(needs, waiting, 'sent');
}

async function settle(needs: Dependencies, waiting: Waiting, outcome: MailOutcome): Promise<void> {
  const command = commandOf(needs, waiting, 'settle');
  await needs.streams.decideOn(mailboxes, waiting.mailbox, command, (mailbox) =>
    settleMail(waiting, outcome, mailbox),
  );
  metrics.notices.inc({ kind: waiting.purpose, outcome });
}

async function putOff(
  needs: Dependencies,
  waiting: Waiting,
  { attempts, at }: { readonly attempts: number; readonly at: Date },
): Promise<void> {
  metrics.notices.inc({ kind: waiting.purpose, outcome: 'failed' });
  const command = commandOf(needs, waiting, 'defer', String(attempts));
  await needs.streams.decideOn(mailboxes, waiting.mailbox, command, (mailbox) =>
    deferMail(waiting, { attempts, retryAt: at }, mailbox),
  );
}

const commandOf = (needs: Dependencies, waiting: Waiting, ...what: readonly string[]): Command => {
  const { mailbox, purpose, generation, tenant_id } = waiting;
  return needs.systemCommand(tenant_id, mailbox, purpose, String(generation), ...what);
};
