/**
 * Writes a requested mail, or returns why none is sent. The secret of a link is generated here, so no secret waits in
 * the queue. After a crash before sending, another secret is generated.
 */
import type { MailPurpose } from '@cardea/contracts';
import type { DerivedKeys, Sealer } from '@cardea/crypto';
import type { Command, Streams } from '@cardea/event-store';
import type { Language } from '@cardea/mail';
import { type Mail, type MailBrand, untrustedText } from '@cardea/mail';
import type { Random, Settings } from '@cardea/runtime';
import type { OtpFormat } from '../workspaces/workspaces.module.ts';
import { emailTemplate, type Inviting } from './mailboxes/email-templates.ts';
import type { MailTextName } from './mailboxes/email-texts.ts';
import type { InviterOf, MailDetails } from './mailboxes/mail-details.ts';
import {
  type MailOutcome,
  mailboxes,
  type PendingMail,
  pendingByGeneration,
} from './mailboxes/mailbox.ts';
import { issueCode, issueLink } from './mailed-secrets.ts';

export type Recipient = {
  readonly id: string;
  /** The text, if it depends on who has the address. */
  readonly text?: MailTextName | undefined;
  readonly emailVerified: boolean;
  /** Undefined if the account is not created yet. */
  readonly epoch?: number | undefined;
  /** The language that the user has chosen. */
  readonly language?: Language | undefined;
};

/** The tenant's own settings for its mails, which apply after the tenant is verified. */
type OwnSettings = {
  readonly app_url: string | null;
  readonly email: { readonly from_name: string | null; readonly reply_to: string | null };
  readonly branding: {
    readonly primary_color: string | null;
    readonly support_email: string | null;
  };
};

type MailedTenant = {
  readonly displayName: string;
  readonly settings: OwnSettings & {
    readonly language: Language;
    readonly otp: { readonly format: OtpFormat };
  };
};

/** The recipients of mails, and the sender's name. */
export type Recipients = {
  /** The user who has the address now and may receive mail. */
  readonly recipient: (tenantId: string, mailbox: string) => Promise<Recipient | undefined>;
  /** The person of the invitation, while it can be accepted. */
  readonly invited: (tenantId: string, invitationId: string) => Promise<Recipient | undefined>;
  /** The person of a pending change of address. */
  readonly changingEmail: (
    tenantId: string,
    mailbox: string,
    change: NonNullable<MailDetails['emailChange']>,
  ) => Promise<Recipient | undefined>;
  /** Empty if the inviter has no name. */
  readonly nameOf: (user: InviterOf) => Promise<string>;
  readonly organizationName: (tenantId: string) => Promise<string>;
  /** Whether the tenant has an administrator with a proven address. */
  readonly isVerifiedTenant: (id: string) => Promise<boolean>;
  readonly tenant: (id: string) => Promise<MailedTenant | undefined>;
};

export type WriterDependencies = Recipients & {
  readonly streams: Streams;
  readonly sealer: Sealer;
  /** Keys derived for `otp/v1`. */
  readonly codeKeys: DerivedKeys;
  readonly random: Random;
  readonly settings: Pick<Settings, 'ISSUER' | 'PUBLIC_URL'>;
  readonly systemCommand: (tenantId: string, ...idParts: readonly string[]) => Command;
};

/** A queued mail. */
export type Waiting = {
  readonly mailbox: string;
  readonly purpose: MailPurpose;
  readonly generation: number;
  readonly tenant_id: string;
};

/** Returns the mail to send, or how it ended without one. */
export async function writeMail(
  needs: WriterDependencies,
  waiting: Waiting,
): Promise<Mail | Exclude<MailOutcome, 'sent'> | 'settled'> {
  const { streams, sealer } = needs;
  const { mailbox, purpose, generation, tenant_id: tenantId } = waiting;
  const { state } = await streams.load(mailboxes, { tenantId, id: mailbox });
  const pending = pendingByGeneration(state, purpose, generation);
  if (pending === undefined) return 'superseded';
  if (pending.settled) return 'settled';
  const invitationId = pending.invitation_id;
  const details = await detailsOf(needs, mailbox, pending);
  const [user, tenant] = await Promise.all([
    recipientOf(needs, waiting, { invitationId, details }),
    needs.tenant(tenantId),
  ]);
  if (user === undefined || tenant === undefined) return 'nobody';
  if (purpose === 'verify' && user.emailVerified) return 'nobody';
  const to = await sealer.open(pending.email, { streamId: `mailbox-${mailbox}`, field: 'email' });
  if (to === null) return 'nobody';
  const of = { user, expiresAt: pending.expires_at, invitationId };
  const own = await ownLook(needs, tenantId, tenant);
  const page =
    user.text === 'email_change_taken'
      ? undefined
      : pageOf(needs, pending, { purpose, app_url: own.app_url });
  const link = page === undefined ? null : await issueLink(needs, waiting, { ...of, page });
  const { otp, language } = tenant.settings;
  // A hosted page waits for the code beside the link.
  const isAwaited = pending.interaction !== undefined;
  const isConfirmed = purpose === 'email_change' && page !== undefined;
  const hasCode =
    purpose === 'otp' || isConfirmed || (CODES_BESIDE_LINKS.has(purpose) && isAwaited);
  const format = isConfirmed ? 'base32' : otp.format;
  const code = hasCode ? await issueCode(needs, waiting, { ...of, format }) : null;
  const words = emailTemplate(purpose, {
    to,
    link,
    code,
    details,
    text: user.text,
    expiresAt: pending.expires_at,
    brand: own.brand,
    requestedAt: pending.requested_at,
    count: pending.count,
    app_url: own.app_url,
    inviting: purpose === 'invitation' ? await invitingOf(needs, tenantId, details) : undefined,
    language: user.language ?? pending.language ?? language,
  });
  return { to, ...own.sender, ...words, link, code };
}

const CODES_BESIDE_LINKS: ReadonlySet<MailPurpose> = new Set(['magic_link', 'verify']);

/** A notice is sent to the account's address at the time of the change, even if the account no longer exists. */
const NOBODYS_ACCOUNT: Recipient = { id: '', emailVerified: true };

async function recipientOf(
  needs: WriterDependencies,
  { mailbox, purpose, tenant_id: tenantId }: Waiting,
  of: { readonly invitationId: string | undefined; readonly details: MailDetails },
): Promise<Recipient | undefined> {
  if (purpose === 'security_notice') return NOBODYS_ACCOUNT;
  const { invitationId, details } = of;
  if (purpose === 'email_change' || purpose === 'email_change_stop') {
    const { emailChange } = details;
    return emailChange && needs.changingEmail(tenantId, mailbox, emailChange);
  }
  return invitationId === undefined
    ? needs.recipient(tenantId, mailbox)
    : needs.invited(tenantId, invitationId);
}

type OwnLook = {
  readonly app_url: string | null;
  readonly brand: MailBrand;
  readonly sender: Pick<Mail, 'fromName' | 'replyTo'>;
};

/**
 * A tenant that is not verified sends mails in the deployment's name only. Its links lead to the hosted pages, and none
 * of its own addresses are shown.
 */
async function ownLook(
  { isVerifiedTenant }: Pick<WriterDependencies, 'isVerifiedTenant'>,
  tenantId: string,
  { displayName: name, settings }: MailedTenant,
): Promise<OwnLook> {
  const { app_url, email, branding } = settings;
  const { from_name, reply_to } = email;
  const { primary_color: color, support_email: support } = branding;
  const none = { app_url: null, sender: {}, brand: { name, color } };
  const chosen = [app_url, from_name, reply_to, support];
  if (chosen.every((one) => one === null)) return none;
  if (!(await isVerifiedTenant(tenantId))) return none;
  const brand = { name, color, support };
  if (from_name === null && reply_to === null) return { app_url, sender: {}, brand };
  const fromName = from_name === null ? null : untrustedText(from_name);
  return { app_url, sender: { fromName, replyTo: reply_to }, brand };
}

async function invitingOf(
  { nameOf, organizationName }: Pick<WriterDependencies, 'nameOf' | 'organizationName'>,
  tenantId: string,
  { inviter }: MailDetails,
): Promise<Inviting> {
  const [organization, name] = await Promise.all([
    organizationName(tenantId),
    inviter === undefined ? '' : nameOf(inviter),
  ]);
  return { organization, inviter: name };
}

/** Returns an empty object for a mail without details, and after their key was erased. */
async function detailsOf(
  { sealer }: Pick<WriterDependencies, 'sealer'>,
  mailbox: string,
  { details }: PendingMail,
): Promise<MailDetails> {
  if (details === undefined) return {};
  const text = await sealer.open(details, { streamId: `mailbox-${mailbox}`, field: 'details' });
  return text === null ? {} : JSON.parse(text);
}

/**
 * The target of the link: the interaction in which it was requested, otherwise the tenant's own page, otherwise a
 * hosted page.
 */
function pageOf(
  { settings }: Pick<WriterDependencies, 'settings'>,
  { interaction }: PendingMail,
  { purpose, app_url }: { readonly purpose: MailPurpose; readonly app_url: string | null },
): string | undefined {
  if (interaction !== undefined) {
    const page = purpose === 'verify' ? 'verify-email' : 'link';
    return `${settings.ISSUER}/oauth2/interaction/${interaction}/${page}`;
  }
  const flow = FLOWS[purpose];
  if (flow === undefined) return undefined;
  return `${app_url ?? `${settings.PUBLIC_URL}/api/v1/auth`}/${flow}`;
}

/** The paths below the tenant's own pages or the hosted ones. Mails without a link have none. */
const FLOWS: { readonly [purpose in MailPurpose]?: string } = {
  verify: 'verify-email',
  reset: 'reset-password',
  magic_link: 'magic-link/verify',
  invitation: 'invitations/accept',
  email_change: 'email-change/verify',
  email_change_stop: 'email-change/stop',
};
