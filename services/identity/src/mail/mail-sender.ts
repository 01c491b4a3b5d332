/**
 * Sends the mail that was asked for. The secret of a link is drawn when the mail is written, so none
 * waits anywhere; a crash in between only draws another.
 */
import type { MailPurpose } from '@cardea/contracts';
import type { DerivedKeys, Sealer } from '@cardea/crypto';
import { accept, type Command, refuse, type Streams } from '@cardea/event-store';
import { type Mail, type MailTransport, outboxLoop } from '@cardea/mail';
import type { Database } from '@cardea/read-models';
import type { Clock, Logger, Random, Settings, WakeSignal } from '@cardea/runtime';
import type { Loop } from '@cardea/service';
import { drawLinkToken, onetimeIdOf } from '../adapters/link-token.ts';
import type { Language } from '../pages/texts.ts';
import type { OtpFormat } from '../workspaces/workspaces.module.ts';
import { emailTemplate, type NewDevice } from './mailboxes/email-templates.ts';
import {
  deferMail,
  type MailOutcome,
  mailboxes,
  type PendingMail,
  pendingMailOf,
  settleMail,
} from './mailboxes/mailbox.ts';
import { codeIds, drawCode, printCode } from './mailed-code.ts';
import { onetimes } from './onetimes/onetime.ts';

/** Pauses after each failure; after the last the mail is given up with an alarm. */
const RETRY_AFTER_MS = [60_000, 5 * 60_000, 30 * 60_000, 2 * 3600_000];
const CANNOT_SEND = 'mail waits and cannot be sent: SMTP_URL is not set';
/** Codes that are drawn until one is free. */
const DRAWS_MAX = 8;

type Waiting = {
  readonly mailbox: string;
  readonly purpose: MailPurpose;
  readonly generation: number;
  readonly tenant_id: string;
  readonly attempts: number;
  readonly due_at: Date;
};

export type Recipient = { readonly id: string; readonly emailVerified: boolean };

/** Who may be written to, and in whose name. */
export type Recipients = {
  /** Who has the address now, and may be written to. */
  readonly recipient: (tenantId: string, mailbox: string) => Promise<Recipient | undefined>;
  /** Whom the invitation is for, while it can be accepted. */
  readonly invited: (tenantId: string, invitationId: string) => Promise<Recipient | undefined>;
  readonly tenant: (id: string) => Promise<
    | {
        readonly displayName: string;
        readonly settings: {
          readonly app_url: string | null;
          readonly language: Language;
          readonly otp: { readonly format: OtpFormat };
          readonly email: { readonly from_name: string | null; readonly reply_to: string | null };
        };
      }
    | undefined
  >;
};

type Dependencies = Recipients & {
  readonly database: Pick<Database, 'system'>;
  readonly streams: Streams;
  readonly sealer: Sealer;
  /** Derived for `otp/v1`. */
  readonly codeKeys: DerivedKeys;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly settings: Pick<Settings, 'ISSUER' | 'PUBLIC_URL'>;
  readonly systemCommand: (tenantId: string, ...idParts: readonly string[]) => Command;
  /** Undefined: nothing can be sent, and nothing is kept anywhere else. */
  readonly transport: MailTransport | undefined;
};

/** `newMail.wake` is called when there is something new to send. */
export const mailSender = (needs: Dependencies, newMail: WakeSignal): Loop =>
  outboxLoop<Waiting>(
    {
      name: 'identity.mail',
      due: (until, limit) => dueMail(needs, until, limit),
      dueAt: ({ due_at }) => due_at,
      // No mail waits for another.
      lineOf: ({ mailbox, purpose, generation }) => `${mailbox} ${purpose} ${generation}`,
      loggedOf: ({ purpose }) => ({ purpose }),
      send: (waiting) => deliver(needs, waiting),
      retryAfterMs: RETRY_AFTER_MS,
      putOff: (waiting, next) => putOff(needs, waiting, next),
      giveUp: (waiting) => settle(needs, waiting, 'given_up'),
      cannotSend: needs.transport === undefined ? CANNOT_SEND : undefined,
    },
    { ...needs, signal: newMail },
  );

async function dueMail(
  { database }: Dependencies,
  until: Date,
  limit: number,
): Promise<readonly Waiting[]> {
  const { rows } = await database.system.query<Waiting>(
    `SELECT mailbox, purpose, generation, tenant_id, attempts, due_at FROM identity.mail_queue
     WHERE due_at <= $1 ORDER BY due_at LIMIT $2`,
    [until, limit],
  );
  return rows;
}

async function deliver(needs: Dependencies, waiting: Waiting): Promise<void> {
  if (needs.transport === undefined) throw new Error(CANNOT_SEND);
  const written = await write(needs, waiting);
  if (written === 'settled') return;
  if (typeof written === 'string') return settle(needs, waiting, written);
  await needs.transport.send(written);
  await settle(needs, waiting, 'sent');
}

/** The mail as it is to be sent; or how it ended without one. */
async function write(
  needs: Dependencies,
  waiting: Waiting,
): Promise<Mail | Exclude<MailOutcome, 'sent'> | 'settled'> {
  const { streams, sealer } = needs;
  const { mailbox, purpose, generation, tenant_id: tenantId } = waiting;
  const { state } = await streams.load(mailboxes, { tenantId, id: mailbox });
  const pending = pendingMailOf(state, purpose);
  if (pending === undefined || pending.generation !== generation) return 'superseded';
  if (pending.settled) return 'settled';
  const invitationId = pending.invitation_id;
  const [user, tenant] = await Promise.all([
    invitationId === undefined
      ? needs.recipient(tenantId, mailbox)
      : needs.invited(tenantId, invitationId),
    needs.tenant(tenantId),
  ]);
  if (user === undefined || tenant === undefined) return 'nobody';
  if (purpose === 'verify' && user.emailVerified) return 'nobody';
  const to = await sealer.open(pending.email, { streamId: `mailbox-${mailbox}`, field: 'email' });
  if (to === null) return 'nobody';
  const of = { userId: user.id, expiresAt: pending.expires_at, invitationId };
  const { app_url, otp, email, language } = tenant.settings;
  const page = pageOf(needs, pending, { purpose, app_url });
  const link = page === undefined ? null : await issueLink(needs, waiting, { ...of, page });
  const code = purpose === 'otp' ? await issueCode(needs, waiting, { ...of, ...otp }) : null;
  const newDevice = await detailsOf(needs, mailbox, pending);
  const words = emailTemplate(purpose, {
    ...{ link, code, newDevice },
    tenantName: tenant.displayName,
    language: pending.language ?? language,
  });
  const sender = { fromName: email.from_name, replyTo: email.reply_to };
  return { to, ...sender, ...words, link, code };
}

/** Null for a mail without any, and for one whose key has gone. */
async function detailsOf(
  { sealer }: Pick<Dependencies, 'sealer'>,
  mailbox: string,
  { details }: PendingMail,
): Promise<NewDevice | null> {
  if (details === undefined) return null;
  const text = await sealer.open(details, { streamId: `mailbox-${mailbox}`, field: 'details' });
  return text === null ? null : JSON.parse(text);
}

/** Where the link leads: to the sign-in that it was asked for at, else the tenant's own page, else a hosted one. */
function pageOf(
  { settings }: Dependencies,
  { interaction }: PendingMail,
  { purpose, app_url }: { readonly purpose: MailPurpose; readonly app_url: string | null },
): string | undefined {
  if (interaction !== undefined) return `${settings.ISSUER}/oauth2/interaction/${interaction}/link`;
  const flow = FLOWS[purpose];
  if (flow === undefined) return undefined;
  return `${app_url ?? `${settings.PUBLIC_URL}/api/v1/auth`}/${flow}`;
}

/** Below the tenant's own pages or the hosted ones; mails without a link have none. */
const FLOWS: { readonly [purpose in MailPurpose]?: string } = {
  verify: 'verify-email',
  reset: 'reset-password',
  magic_link: 'magic-link/verify',
  invitation: 'invitations/accept',
};

async function issueLink(
  { streams, random, systemCommand }: Dependencies,
  { mailbox, purpose, generation, tenant_id: tenantId }: Waiting,
  of: {
    readonly userId: string;
    readonly expiresAt: string;
    readonly invitationId: string | undefined;
    readonly page: string;
  },
): Promise<string> {
  const token = drawLinkToken(tenantId, random);
  const id = onetimeIdOf(purpose, tenantId, token);
  const data = {
    ...{ purpose, user_id: of.userId, mailbox, generation, expires_at: of.expiresAt },
    ...(of.invitationId === undefined ? {} : { invitation_id: of.invitationId }),
  };
  await streams.decideOn(onetimes, id, systemCommand(tenantId, 'issue', id), () =>
    accept({ type: 'Issued', data }),
  );
  // After the # it reaches no server log and no link scanner.
  return `${of.page}#token=${token}`;
}

/** A code that was drawn before stays what it was, so another one is drawn. */
async function issueCode(
  { streams, random, systemCommand, codeKeys }: Dependencies,
  { mailbox, purpose, generation, tenant_id: tenantId }: Waiting,
  of: { readonly userId: string; readonly expiresAt: string; readonly format: OtpFormat },
): Promise<string> {
  const data = { purpose, user_id: of.userId, mailbox, generation, expires_at: of.expiresAt };
  for (let draw = 0; draw < DRAWS_MAX; draw += 1) {
    const code = drawCode(of.format, random);
    const named = { format: of.format, code };
    const [id = ''] = codeIds(codeKeys, tenantId, named, { mailbox, generation });
    const command = systemCommand(tenantId, 'issue', id, String(generation), mailbox);
    const issued = await streams.decideOn(onetimes, id, command, (onetime) =>
      onetime.status === 'none' ? accept({ type: 'Issued', data }) : refuse('taken'),
    );
    if (issued.accepted) return printCode(code);
  }
  throw new Error('every code that was drawn is taken');
}

async function settle(needs: Dependencies, waiting: Waiting, outcome: MailOutcome): Promise<void> {
  const command = commandOf(needs, waiting, 'settle');
  await needs.streams.decideOn(mailboxes, waiting.mailbox, command, (mailbox) =>
    settleMail(waiting, outcome, mailbox),
  );
}

async function putOff(
  needs: Dependencies,
  waiting: Waiting,
  { attempts, at }: { readonly attempts: number; readonly at: Date },
): Promise<void> {
  const command = commandOf(needs, waiting, 'defer', String(attempts));
  await needs.streams.decideOn(mailboxes, waiting.mailbox, command, (mailbox) =>
    deferMail(waiting, { attempts, retryAt: at }, mailbox),
  );
}

const commandOf = (needs: Dependencies, waiting: Waiting, ...what: readonly string[]): Command => {
  const { mailbox, purpose, generation, tenant_id } = waiting;
  return needs.systemCommand(tenant_id, mailbox, purpose, String(generation), ...what);
};
