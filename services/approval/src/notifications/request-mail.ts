/**
 * The mail that notifies a user of a request. Text written by an agent is shown as plain text and labelled
 * as the agent's. The mail contains no link, no button that decides and no remote image.
 */
import { type Language, type MailText, mailText } from '@cardea/mail';
import { cleaned, cut, type Origin, type Severity } from '../requests/requests.module.ts';
import { REQUEST_MAIL_TEXTS } from './request-mail-texts.ts';

export type MailedRequest = {
  readonly agentName: string;
  /** True if this agent has never sent this user a request before. */
  readonly isFirst: boolean;
  readonly action: string;
  readonly resource: string | undefined;
  /** Names of the fields that a vend would release; never a value. */
  readonly fields: readonly string[];
  readonly severity: Severity;
  readonly expiresAt: string;
  readonly reason: string | null;
  /** Who made the request; for a vend, the server composed the reason and quotes the agent in it. */
  readonly origin: Origin;
  /** The code that user and agent can compare; null if only the agent's side may show it. */
  readonly code: string | null;
  readonly language: Language;
};

const SUBJECT_NAME_MAX_CHARS = 60;

const isAgents = (origin: Origin): boolean => origin === 'vend' || origin === 'agent';

export function mailOfRequest(of: MailedRequest): MailText {
  const texts = REQUEST_MAIL_TEXTS[of.language];
  const name = cleaned(of.agentName);
  const lines = [
    filled(texts.asks[of.origin], { agent: name }),
    of.isFirst && isAgents(of.origin) ? texts.first : undefined,
    `${texts.action}: ${of.action}`,
    of.resource === undefined ? undefined : `${texts.service}: ${of.resource}`,
    of.fields.length === 0 ? undefined : `${texts.fields}: ${of.fields.join(', ')}`,
    `${texts.severity}: ${texts.severities[of.severity]}`,
    `${texts.openUntil}: ${utc(of.expiresAt)}`,
    of.reason === null ? undefined : `${texts.reason[of.origin]}: ${of.reason}`,
    of.code === null ? undefined : `${texts.code}: ${of.code}`,
    texts.unexpected,
  ].filter((line) => line !== undefined);
  const subject = isAgents(of.origin) ? texts.subject.byAgent : texts.subject.inItsName;
  const agent = cut(name, SUBJECT_NAME_MAX_CHARS);
  return mailText(filled(subject, { agent }), lines, of.language);
}

/** One mail for all requests that came while the user was over the limit. */
export function mailOfSeveral(count: number, language: Language): MailText {
  const { one, many, end, where } = REQUEST_MAIL_TEXTS[language].several;
  const subject = filled(count === 1 ? one : many, { count: String(count) });
  return mailText(subject, [`${subject} ${end}`, where], language);
}

/** A value that looks like a placeholder stays as it is. */
const filled = (text: string, values: { readonly [name: string]: string }): string =>
  text.replaceAll(/\{(\w+)\}/g, (_whole, name) => values[name] ?? '');

const utc = (time: string): string => `${time.slice(0, 16).replace('T', ' ')} UTC`;
