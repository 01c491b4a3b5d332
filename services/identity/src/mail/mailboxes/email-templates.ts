/** Composes each mail of its texts and the facts of its cause. */
import type { MailPurpose } from '@cardea/contracts';
import type { Language } from '@cardea/mail';
import {
  type Fact,
  framedMail,
  type MailBrand,
  type MailText,
  untrustedText,
  utcText,
} from '@cardea/mail';
import { type FactName, MAIL_TEXTS, type MailTextName } from './email-texts.ts';
import type { MailDetails, SecurityChange } from './mail-details.ts';
import { NOTICE_TEXTS } from './notice-texts.ts';

/** The inviter and the organization. Both names were chosen by other people, so they are not trusted. */
export type Inviting = { readonly organization: string; readonly inviter: string };

export type MailCause = {
  readonly to: string;
  /** Null for mails that request nothing, or that show a code. */
  readonly link: string | null;
  readonly code: string | null;
  /** When the link or code expires, ISO 8601. */
  readonly expiresAt: string;
  readonly requestedAt: string;
  readonly brand: MailBrand;
  readonly language: Language;
  readonly details: MailDetails;
  /** The text, if it differs from the purpose's own. */
  readonly text?: MailTextName | undefined;
  readonly inviting?: Inviting | undefined;
  /** How many notices the mail summarizes. */
  readonly count?: number | undefined;
  /** The tenant's own page, to which a notice links. */
  readonly app_url?: string | null;
};

export function emailTemplate(purpose: MailPurpose, cause: MailCause): MailText {
  if (purpose === 'security_notice') return securityNotice(cause);
  const { link, code, brand, language } = cause;
  const texts = MAIL_TEXTS[language];
  const { subject, why, call, end } = texts.of[cause.text ?? purpose];
  const content = {
    subject,
    why,
    facts: labelled(factsOf(cause), language),
    end,
    code: code === null ? undefined : { label: link === null ? call : texts.type, code },
    ...(link === null ? {} : linkOf(link, { call, paste: texts.paste })),
    ...(purpose === 'new_device' ? { button: accountButton(cause) } : {}),
  };
  return framedMail(content, brand, language);
}

type Known = readonly (readonly [FactName, string])[];

const labelled = (facts: Known, language: Language): readonly Fact[] =>
  facts.map(([name, value]) => [MAIL_TEXTS[language].facts[name], value]);

/** Facts that are unknown are empty and left out. */
function factsOf({ to, link, code, expiresAt, requestedAt, inviting, details }: MailCause): Known {
  const hasSecret = link !== null || code !== null;
  return [
    ['organization', untrustedText(inviting?.organization ?? '')],
    ['inviter', untrustedText(inviting?.inviter ?? '')],
    ['address', to],
    ['day', details.day === undefined ? '' : utcText(details.day)],
    ...(hasSecret ? [['until', utcText(expiresAt)] as const] : whenceOf(details, requestedAt)),
  ];
}

const whenceOf = ({ at, browser, os, city, country }: MailDetails, requestedAt: string): Known => [
  ['time', utcText(at ?? requestedAt)],
  ['device', listed([browser, os])],
  ['place', listed([city, country])],
];

const listed = (parts: readonly (string | null | undefined)[]): string =>
  parts.filter((part) => part !== null && part !== undefined && part !== '').join(', ');

/** Mail gateways rewrite links and drop the part after `#`, so the mail also shows the secret as text. */
const linkOf = (
  link: string,
  { call, paste }: { readonly call: string; readonly paste: string },
) => ({
  button: { label: call, link },
  paste: { label: paste, code: new URLSearchParams(link.split('#')[1]).get('token') ?? '' },
});

const accountButton = ({ app_url: link = null, language }: MailCause) =>
  link === null ? undefined : { label: NOTICE_TEXTS[language].call, link };

function securityNotice(cause: MailCause): MailText {
  const { to, brand, language, details, requestedAt } = cause;
  const texts = NOTICE_TEXTS[language];
  const { subject, why } = changeOf(cause);
  const isGone = details.change !== undefined && LEADS_NOWHERE.has(details.change);
  const { isByAdministrator = false, provider = '', codesLeft } = details;
  const facts: readonly Fact[] = [
    ...labelled([['address', to], ...whenceOf(details, requestedAt)], language),
    [texts.facts.provider, PROVIDERS[provider] ?? provider],
    [texts.facts.day, details.day === undefined ? '' : utcText(details.day)],
    [texts.facts.codesLeft, codesLeft === undefined ? '' : String(codesLeft)],
    [texts.facts.by, isByAdministrator ? texts.facts.administrator : ''],
  ];
  const content = {
    subject: `${texts.prefix}: ${subject}`,
    why,
    facts,
    button: isGone ? undefined : accountButton(cause),
    end: texts.ends[isByAdministrator ? 'administrator' : isGone ? 'gone' : 'own'],
  };
  return framedMail(content, brand, language);
}

/** Changes after which the reader can do nothing at the account any more. */
const LEADS_NOWHERE: ReadonlySet<SecurityChange> = new Set([
  'account_deleted',
  'account_disabled',
  'email_left',
]);

/** The providers' names in their own spelling. */
const PROVIDERS: { readonly [name: string]: string | undefined } = {
  google: 'Google',
  github: 'GitHub',
  microsoft: 'Microsoft',
};

function changeOf({ language, details, count = 1 }: MailCause) {
  const { of, several } = NOTICE_TEXTS[language];
  if (details.change !== undefined) return of[details.change];
  const { subject, why } = count === 1 ? several.one : several.many;
  const filled = (text: string) => text.replace('{count}', String(count));
  return { subject: filled(subject), why: filled(why) };
}
