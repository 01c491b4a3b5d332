/** The words of each mail. Values that people chose are escaped in HTML and stand in no header. */
export type EmailKind = 'verify' | 'reset' | 'notice' | 'magic_link' | 'otp';

export type EmailTemplate = {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
};

type Of = {
  /** Null for letters that ask for nothing, or show a code. */
  readonly link: string | null;
  readonly code: string | null;
  readonly tenantName: string;
};

const WORDS: Record<EmailKind, { subject: string; lead: string; call: string; end: string }> = {
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
  notice: {
    subject: 'You already have an account',
    lead: 'somebody tried to register with this address, which already has an account.',
    call: '',
    end: 'If it was you, sign in, or ask for a new password. Otherwise do nothing.',
  },
};

export function emailTemplate(kind: EmailKind, { link, code, tenantName }: Of): EmailTemplate {
  const { subject, lead, call, end } = WORDS[kind];
  const shown = link ?? code;
  const from = `This mail comes from ${oneLine(tenantName)}.`;
  const text = [`Hello,`, lead, ...(shown === null ? [] : [`${call}: ${shown}`]), end, from].join(
    '\n\n',
  );
  const codeShown = code === null ? '' : `<p>${escapeHtml(call)}: <b>${escapeHtml(code)}</b></p>`;
  const button =
    link === null ? codeShown : `<p><a href="${escapeHtml(link)}">${escapeHtml(call)}</a></p>`;
  const html =
    `<!doctype html><html lang="en"><body><p>Hello,</p><p>${escapeHtml(lead)}</p>` +
    `${button}<p>${escapeHtml(end)}</p><p>${escapeHtml(from)}</p></body></html>`;
  return { subject, text, html };
}

const oneLine = (text: string) => text.replaceAll(/[\r\n]+/g, ' ');

export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
