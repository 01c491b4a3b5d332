/**
 * The mail that tells a person of a request. Whatever an agent wrote stands in it as plain text that is
 * said to be the agent's; no link, no button that decides, no picture from elsewhere.
 */
import { cleaned, cut } from '../words.ts';

export type Letter = { readonly subject: string; readonly text: string; readonly html: string };

export type LetterOf = {
  readonly agentName: string;
  /** True when this agent has never asked this user before. */
  readonly isFirst: boolean;
  readonly action: string;
  readonly resource: string | undefined;
  /** Names of the fields that a vend would release; no value ever. */
  readonly fields: readonly string[];
  readonly severity: string;
  readonly expiresAt: string;
  readonly reason: string | null;
  /** Of a vend: the reason was made by the server and quotes the agent itself. */
  readonly isVend: boolean;
  /** The code that both sides can compare; null where only the agent's side may show it. */
  readonly code: string | null;
};

const SUBJECT_NAME_MAX_CHARS = 60;

export function letter(of: LetterOf): Letter {
  const name = cleaned(of.agentName);
  const lines = [
    `${name} asks for your decision.`,
    of.isFirst ? 'It is the first request of this agent to you.' : undefined,
    `Action: ${of.action}`,
    of.resource === undefined ? undefined : `Service: ${of.resource}`,
    of.fields.length === 0 ? undefined : `Fields: ${of.fields.join(', ')}`,
    `Severity: ${of.severity}`,
    `Open until: ${utc(of.expiresAt)}`,
    of.reason === null ? undefined : `${of.isVend ? 'Reason' : 'The agent says'}: ${of.reason}`,
    of.code === null ? undefined : `Reference code: ${of.code}`,
    'If you do not know what this is about, deny it or let it run out.',
  ].filter((line) => line !== undefined);
  return letterOf(`Approval requested by ${cut(name, SUBJECT_NAME_MAX_CHARS)}`, lines);
}

/** One mail for all that came while the user had enough mail. */
export const foldedLetter = (count: number): Letter =>
  letterOf(`${count} more ${count === 1 ? 'request waits' : 'requests wait'}`, [
    `${count} more ${count === 1 ? 'request waits' : 'requests wait'} for your decision.`,
    'You find them in the list of pending approvals.',
  ]);

function letterOf(subject: string, lines: readonly string[]): Letter {
  const paragraphs = lines.map((line) => `<p>${escapeHtml(line)}</p>`).join('');
  return {
    subject: cleaned(subject),
    text: `${lines.join('\n\n')}\n`,
    html: `<!doctype html><html lang="en"><body>${paragraphs}</body></html>`,
  };
}

const utc = (time: string): string => `${time.slice(0, 16).replace('T', ' ')} UTC`;

const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
