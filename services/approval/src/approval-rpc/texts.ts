/**
 * The texts of a vend's request. They are composed here, because an agent must not author the text that a user reads
 * before a secret is released.
 */
import { cleaned, cut } from '@cardea/runtime';

const FIELDS_SHOWN = 2;
const MESSAGE_MAX_CHARS = 100;

const shortFields = (fields: readonly string[]): string => {
  const more = fields.length - FIELDS_SHOWN;
  const shown = fields.slice(0, FIELDS_SHOWN).join(', ');
  return more > 0 ? `${shown} +${more}` : shown;
};

/** The text for the agent. It identifies the request and contains the code that user and agent can compare. */
export function bindingMessage(of: {
  readonly agentName: string;
  readonly service: string;
  readonly fields: readonly string[];
  /** Null after the user was erased. */
  readonly code: string | null;
}): string {
  const end = of.code === null ? '' : ` · code ${of.code}`;
  const start = `${of.agentName}: ${of.service} (${shortFields(of.fields)})`;
  return `${cut(start, MESSAGE_MAX_CHARS - end.length)}${end}`;
}

const SHOWN_REASON_MAX_CHARS = 1_000;

export function vendReason(of: {
  readonly service: string;
  readonly fields: readonly string[];
  readonly grantTtlSeconds: number;
  readonly purpose: string | undefined;
}): string {
  const minutes = Math.max(1, Math.ceil(of.grantTtlSeconds / 60));
  const purpose = cleaned(of.purpose ?? '');
  const said = purpose === '' ? '' : `; the agent says: ${purpose}`;
  const release = `Release ${of.fields.join(', ')} of ${of.service}; for up to ${minutes} minutes`;
  return cut(cleaned(`${release}${said}`), SHOWN_REASON_MAX_CHARS);
}
