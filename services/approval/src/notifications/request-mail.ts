/**
 * The mail that notifies a user of a request. Text written by an agent is shown as plain text and labelled
 * as the agent's. The mail contains no link, no button that decides and no remote image.
 */
import { type MailText, mailText } from '@cardea/mail';
import { cleaned, cut, type Origin } from '../requests/requests.module.ts';

export type MailedRequest = {
  readonly agentName: string;
  /** True if this agent has never sent this user a request before. */
  readonly isFirst: boolean;
  readonly action: string;
  readonly resource: string | undefined;
  /** Names of the fields that a vend would release; never a value. */
  readonly fields: readonly string[];
  readonly severity: string;
  readonly expiresAt: string;
  readonly reason: string | null;
  /** Who made the request; for a vend, the server composed the reason and quotes the agent in it. */
  readonly origin: Origin;
  /** The code that user and agent can compare; null if only the agent's side may show it. */
  readonly code: string | null;
};

const SUBJECT_NAME_MAX_CHARS = 60;

/** A user must not mistake their own or an administrator's request for one made by an agent. */
const WHO_ASKS: { readonly [origin in Origin]: (agent: string) => string } = {
  vend: (agent) => `${agent} asks for your decision.`,
  agent: (agent) => `${agent} asks for your decision.`,
  admin: (agent) => `An administrator asks for your decision in the name of ${agent}.`,
  self: (agent) => `You have asked yourself for this decision in the name of ${agent}.`,
};
const REASON_LABELS: { readonly [origin in Origin]: string } = {
  vend: 'Reason',
  agent: 'The agent says',
  admin: 'The administrator says',
  self: 'You said',
};

const isAgents = (origin: Origin): boolean => origin === 'vend' || origin === 'agent';

export function mailOfRequest(of: MailedRequest): MailText {
  const name = cleaned(of.agentName);
  const lines = [
    WHO_ASKS[of.origin](name),
    of.isFirst && isAgents(of.origin) ? 'It is the first request of this agent to you.' : undefined,
    `Action: ${of.action}`,
    of.resource === undefined ? undefined : `Service: ${of.resource}`,
    of.fields.length === 0 ? undefined : `Fields: ${of.fields.join(', ')}`,
    `Severity: ${of.severity}`,
    `Open until: ${utc(of.expiresAt)}`,
    of.reason === null ? undefined : `${REASON_LABELS[of.origin]}: ${of.reason}`,
    of.code === null ? undefined : `Reference code: ${of.code}`,
    'If you do not know what this is about, deny it or let it run out.',
  ].filter((line) => line !== undefined);
  const by = isAgents(of.origin) ? 'by' : 'in the name of';
  return mailText(`Approval requested ${by} ${cut(name, SUBJECT_NAME_MAX_CHARS)}`, lines);
}

/** One mail for all requests that came while the user was over the limit. */
export const mailOfSeveral = (count: number): MailText =>
  mailText(`${count} more ${count === 1 ? 'request waits' : 'requests wait'}`, [
    `${count} more ${count === 1 ? 'request waits' : 'requests wait'} for your decision.`,
    'You find them in the list of pending approvals.',
  ]);

const utc = (time: string): string => `${time.slice(0, 16).replace('T', ' ')} UTC`;
