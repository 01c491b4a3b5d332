/**
 * The mail that notifies a user of a request. Text from an agent is shown as plain text and labelled as the agent's.
 * The mail has one link, to the page of the request. Opening the link decides nothing, because mail scanners follow
 * links. The mail contains no remote image.
 */
import { type Fact, framedMail, type MailText, untrustedText, utcText } from '@cardea/mail';
import { cleaned, cut } from '@cardea/runtime';
import {
  type MailLook,
  type Origin,
  REQUEST_LABELS,
  releasedFact,
  type Severity,
} from '../requests/requests.module.ts';
import { REQUEST_MAIL_TEXTS } from './request-mail-texts.ts';

export type MailedRequest = {
  readonly agentName: string;
  /** True if this agent has never sent this user a request before. */
  readonly isFirst: boolean;
  /** True if nobody had decided in time, so a second approver may decide, too. */
  readonly isEscalated: boolean;
  /** The name of the person in whose place a deputy decides. */
  readonly absent: string | undefined;
  readonly action: string;
  readonly resource: string | undefined;
  /** Names of the fields that a vend would release, never their values. */
  readonly fields: readonly string[];
  readonly severity: Severity;
  readonly expiresAt: string;
  /** How long a vend's values can be used at most. Undefined for other and for older requests. */
  readonly grantTtlSeconds: number | undefined;
  /** The purpose of the session of a vend's agent, in the words of the agent. Null if it is unknown. */
  readonly purpose: string | null;
  readonly reason: string | null;
  /** Who made the request. For a vend, the server composed the reason, which quotes the agent. */
  readonly origin: Origin;
  /** The code that user and agent can compare. Null if only the agent may show it. */
  readonly code: string | null;
  readonly look: MailLook;
  /** The page of the request. */
  readonly page: string;
};

const SUBJECT_NAME_MAX_CHARS = 60;

const isAgents = (origin: Origin): boolean => origin === 'vend' || origin === 'agent';

export function mailOfRequest(of: MailedRequest): MailText {
  const { language, brand } = of.look;
  const texts = REQUEST_MAIL_TEXTS[language];
  const labels = REQUEST_LABELS[language];
  const name = cleaned(of.agentName);
  const facts: readonly Fact[] = [
    [labels.action, of.action],
    [labels.service, of.resource ?? ''],
    [labels.fields, of.fields.join(', ')],
    [labels.severity, labels.severities[of.severity]],
    [labels.openUntil, utcText(of.expiresAt)],
    ...reasonOf(of),
  ];
  const asks = filled(texts.asks[of.origin], { agent: name });
  const subject = isAgents(of.origin) ? texts.subject.byAgent : texts.subject.inItsName;
  const content = {
    subject: filled(subject, { agent: cut(name, SUBJECT_NAME_MAX_CHARS) }),
    why: whyOf(of, asks),
    facts,
    code: of.code === null ? undefined : { label: texts.code, code: of.code },
    button: { label: texts.decide, link: of.page },
    end: texts.unexpected,
  };
  return framedMail(content, brand, language);
}

/**
 * The reason of a vend is an English sentence of the server, which repeats the fields and names the lifetime of the
 * grant and the purpose. If the lifetime is known, the mail shows both as separate facts in its own language.
 */
function reasonOf(of: MailedRequest): readonly Fact[] {
  const { grantTtlSeconds, purpose } = of;
  const { language } = of.look;
  const texts = REQUEST_MAIL_TEXTS[language];
  if (grantTtlSeconds === undefined) return [[texts.reason[of.origin], of.reason ?? '']];
  return [releasedFact(grantTtlSeconds, language), [texts.reason.agent, purpose ?? '']];
}

function whyOf(of: MailedRequest, asks: string): string {
  const { first, escalated, deputy } = REQUEST_MAIL_TEXTS[of.look.language];
  const isNew = of.isFirst && isAgents(of.origin) && !of.isEscalated;
  const sentences = [
    asks,
    of.absent === undefined ? '' : filled(deputy, { name: untrustedText(of.absent) }),
    of.isEscalated ? escalated : '',
    isNew ? first : '',
  ];
  return sentences.filter((sentence) => sentence !== '').join(' ');
}

/** One mail for all requests that arrived while the user was over the limit; `page` lists them. */
export function mailOfSeveral(
  count: number,
  { language, brand }: MailLook,
  page: string,
): MailText {
  const { one, many, end, show, where } = REQUEST_MAIL_TEXTS[language].several;
  const subject = filled(count === 1 ? one : many, { count: String(count) });
  const button = { label: show, link: page };
  return framedMail({ subject, why: `${subject} ${end}`, button, end: where }, brand, language);
}

/** Notifies a user that their codes are blocked after wrong ones. It names neither a request nor a code. */
export function mailOfBlock(until: Date, { language, brand }: MailLook): MailText {
  const { subject, why, blockedUntil, end } = REQUEST_MAIL_TEXTS[language].blocked;
  const facts: readonly Fact[] = [[blockedUntil, utcText(until.toISOString())]];
  return framedMail({ subject, why, facts, end }, brand, language);
}

/** A value that looks like a placeholder is not replaced. */
export const filled = (text: string, values: { readonly [name: string]: string }): string =>
  text.replaceAll(/\{(\w+)\}/g, (_whole, name) => values[name] ?? '');
