/** Each mail, put together of its texts. */
import type { MailPurpose } from '@cardea/contracts';
import { type MailText, mailText, oneLine } from '@cardea/mail';
import type { Language } from '../../pages/texts.ts';
import { MAIL_TEXTS } from './email-texts.ts';

/** A sign-in that its owner is told of, as far as it is known. */
export type NewDevice = {
  /** ISO 8601. */
  readonly at: string;
  readonly browser: string;
  readonly os: string;
  readonly city: string | null;
  readonly country: string | null;
};

type Of = {
  /** Null for mails that ask for nothing, or show a code. */
  readonly link: string | null;
  readonly code: string | null;
  readonly tenantName: string;
  readonly language: Language;
  /** Null for mails that tell of none. */
  readonly newDevice?: NewDevice | null;
};

export function emailTemplate(kind: MailPurpose, of: Of): MailText {
  const { link, code, language, newDevice = null } = of;
  const { greeting, from, of: texts } = MAIL_TEXTS[language];
  const { subject, lead, call, end } = texts[kind];
  const paragraphs = [
    greeting,
    lead,
    ...(link === null ? [] : [{ label: call, link }]),
    ...(code === null ? [] : [{ label: call, code }]),
    ...(newDevice === null ? [] : [describe(newDevice)]),
    end,
    from.replace('{tenant}', () => oneLine(of.tenantName)),
  ];
  return mailText(subject, paragraphs, language);
}

/** What is not known is left out. */
function describe({ at, browser, os, city, country }: NewDevice): string {
  const device = [browser, os].filter((part) => part !== '').join(', ');
  const place = [city, country].filter((part) => part !== null).join(', ');
  const when = `${at.slice(0, 16).replace('T', ' ')} UTC`;
  return oneLine([when, device, place].filter((part) => part !== '').join(' · '));
}
