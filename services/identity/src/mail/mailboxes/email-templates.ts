/** The words of each mail. */
import type { MailPurpose } from '@cardea/contracts';
import { type MailText, mailText, oneLine } from '@cardea/mail';

type Of = {
  /** Null for mails that ask for nothing, or show a code. */
  readonly link: string | null;
  readonly code: string | null;
  readonly tenantName: string;
};

const WORDS: Record<MailPurpose, { subject: string; lead: string; call: string; end: string }> = {
  verify: {
    subject: 'Confirm your e-mail address',
    lead: 'please confirm that this address is yours.',
    call: 'Confirm the address',
    end: 'The link works once, for 24 hours. If you did not ask for it, do nothing.',
  },
  reset: {
    subject: 'Set a new password',
    lead: 'somebody asked for a new password for the account with this address.',
    call: 'Choose a new password',
    end: 'The link works once, for one hour. If you did not ask for it, do nothing.',
  },
  magic_link: {
    subject: 'Sign in',
    lead: 'somebody asked for a link to sign in with this address.',
    call: 'Sign in',
    end: 'The link works once, for 15 minutes. If you did not ask for it, do nothing.',
  },
  otp: {
    subject: 'Your code to sign in',
    lead: 'somebody asked for a code to sign in with this address.',
    call: 'Your code',
    end: 'The code works once, for 10 minutes. Give it to nobody. If you did not ask for it, do nothing.',
  },
  invitation: {
    subject: 'You are invited',
    lead: 'an administrator invites you to an account with this address.',
    call: 'Accept the invitation',
    end: 'The link works once, for seven days. If you did not expect it, do nothing.',
  },
  notice: {
    subject: 'You already have an account',
    lead: 'somebody tried to register with this address, which already has an account.',
    call: '',
    end: 'If it was you, sign in, or ask for a new password. Otherwise do nothing.',
  },
};

export function emailTemplate(kind: MailPurpose, { link, code, tenantName }: Of): MailText {
  const { subject, lead, call, end } = WORDS[kind];
  return mailText(subject, [
    'Hello,',
    lead,
    ...(link === null ? [] : [{ label: call, link }]),
    ...(code === null ? [] : [{ label: call, code }]),
    end,
    `This mail comes from ${oneLine(tenantName)}.`,
  ]);
}
