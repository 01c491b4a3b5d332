/** Every kind of mail of every service, with texts that people and agents wrote. */
import { MAIL_PURPOSES } from '@cardea/contracts';
import { LANGUAGES, type Language, type MailText } from '../../packages/mail/src/index.ts';
import { mailOfDeputy } from '../../services/approval/src/notifications/deputy-mail.ts';
import {
  mailOfRequest,
  mailOfSeveral,
} from '../../services/approval/src/notifications/request-mail.ts';
import { emailTemplate } from '../../services/identity/src/mail/mailboxes/email-templates.ts';
import { SECURITY_CHANGES } from '../../services/identity/src/mail/mailboxes/mail-details.ts';

export const TO = 'ann@example.com';
const TOKEN =
  '0199c3de-7a1b-7c3d-9f20-1b2c3d4e5f60.Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXU';
const PAGE = 'https://cardea.example/approve';
const AT = '2026-01-01T10:00:00.000Z';
const ORIGINS = ['vend', 'agent', 'admin', 'self'] as const;

type Kind = { readonly name: string; readonly of: (by: string, language: Language) => MailText };

/** `by` is a text that people and agents wrote, in every place where a mail shows one. */
const causeOf = (by: string, language: Language) => ({
  ...{ to: TO, link: null, code: null, details: {}, language },
  ...{ requestedAt: AT, expiresAt: '2026-01-02T10:00:00.000Z', app_url: 'https://app.example' },
  brand: { name: by, color: '#1a6b52', support: 'help@example.com' },
});
const LINKS: readonly string[] = ['verify', 'reset', 'magic_link', 'invitation'];
const secretOf = (purpose: string) => ({
  link: LINKS.includes(purpose) ? `https://app.example/${purpose}#token=${TOKEN}` : null,
  code: ['otp', 'verify'].includes(purpose) ? 'K7QF-3MXP' : null,
});
const FROM = { at: AT, browser: 'Firefox', os: 'Linux', city: 'Köln', country: 'DE' };

const KINDS: readonly Kind[] = [
  ...MAIL_PURPOSES.filter((purpose) => purpose !== 'security_notice').map((purpose) => ({
    name: purpose,
    of: (by: string, language: Language) =>
      emailTemplate(purpose, {
        ...causeOf(by, language),
        ...secretOf(purpose),
        details: purpose === 'new_device' ? FROM : {},
        inviting: purpose === 'invitation' ? { organization: by, inviter: by } : undefined,
      }),
  })),
  ...SECURITY_CHANGES.flatMap((change) =>
    [false, true].map((isByAdministrator) => ({
      name: `${change}${isByAdministrator ? ' by an administrator' : ''}`,
      of: (by: string, language: Language) => {
        const details = { change, isByAdministrator, provider: by, codesLeft: 9 };
        const whence = isByAdministrator ? { at: AT } : FROM;
        return emailTemplate('security_notice', {
          ...causeOf(by, language),
          details: { ...details, ...whence },
        });
      },
    })),
  ),
  ...[1, 7].map((count) => ({
    name: `${count} more notices`,
    of: (by: string, language: Language) =>
      emailTemplate('security_notice', { ...causeOf(by, language), count }),
  })),
  ...ORIGINS.map((origin) => ({
    name: `request of ${origin}`,
    of: (by: string, language: Language) =>
      mailOfRequest({
        ...{ agentName: by, isFirst: true, action: by, resource: by, fields: [by], origin },
        ...{ severity: 'high', expiresAt: AT, reason: by, code: '47', purpose: by },
        grantTtlSeconds: origin === 'vend' ? 900 : undefined,
        ...{ isEscalated: origin === 'vend', absent: origin === 'agent' ? by : undefined },
        look: { language, brand: { name: by, color: null } },
        page: PAGE,
      }),
  })),
  ...(['named', 'ended'] as const).flatMap((kind) =>
    (['person', 'deputy'] as const).map((to) => ({
      name: `deputy ${kind}, to the ${to}`,
      of: (by: string, language: Language) =>
        mailOfDeputy(
          { kind, to, other: by, from: AT, until: AT, at: AT },
          { name: by, page: PAGE, look: { language, brand: { name: by, color: null } } },
        ),
    })),
  ),
  ...[1, 7].map((count) => ({
    name: `${count} requests`,
    of: (by: string, language: Language) =>
      mailOfSeveral(count, { language, brand: { name: by, color: null } }, PAGE),
  })),
];
export const MAIL_KINDS = KINDS.flatMap(({ name, of }) =>
  LANGUAGES.map((language) => ({ name, language, of })),
);
