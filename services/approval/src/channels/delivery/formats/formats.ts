/** Formats a message for the program that receives it, and interprets the response. */
import type { OutboundAnswer, OutboundRequest } from '@cardea/http';
import type { ChannelFormat } from '../../channel.ts';
import { RETRY_AFTER_MAX_MS } from '../../limits.ts';
import type { ChannelMessage } from '../channel-message.ts';
import { discordBody } from './discord.ts';
import { ntfyBody } from './ntfy.ts';
import { slackBody } from './slack.ts';
import { teamsBody } from './teams.ts';

export type Credentials = { readonly url: string; readonly token: string | null };

export function requestTo(
  format: ChannelFormat,
  message: ChannelMessage,
  { url, token }: Credentials,
): OutboundRequest {
  const headers = {
    'Content-Type': 'application/json',
    ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
  };
  const post = (to: string, body: object): OutboundRequest => ({
    url: to,
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  switch (format) {
    case 'slack':
      return post(url, slackBody(message));
    case 'teams':
      return post(url, teamsBody(message));
    case 'discord':
      return post(url, discordBody(message));
    case 'ntfy': {
      const { origin, pathname } = new URL(url);
      return post(`${origin}/`, ntfyBody(message, pathname.slice(1)));
    }
  }
}

export type Outcome =
  | { readonly kind: 'taken' }
  /** The same message would be refused again, so it is dropped. */
  | { readonly kind: 'rejected'; readonly error: string }
  | { readonly kind: 'later'; readonly error: string; readonly afterMs?: number };

/** Statuses after which the same message may be accepted later. */
const LATER: readonly number[] = [408, 425, 429];

/** Interprets the response. Nothing of its text is kept, since it comes from a third party. */
export function outcomeOf(
  answer: Pick<OutboundAnswer, 'status' | 'error' | 'headers' | 'body'>,
): Outcome {
  const { status } = answer;
  if (status === 0) return { kind: 'later', error: answer.error ?? 'no_answer' };
  if (status >= 200 && status < 300) return { kind: 'taken' };
  const error = `status_${status}`;
  if (status < 500 && !LATER.includes(status)) return { kind: 'rejected', error };
  const afterMs = retryAfterMs(answer);
  return { kind: 'later', error, ...(afterMs === undefined ? {} : { afterMs }) };
}

/** The delay is in seconds in the header; Discord's body has it more exactly. */
function retryAfterMs({
  headers,
  body,
}: Pick<OutboundAnswer, 'headers' | 'body'>): number | undefined {
  const header = headers['retry-after'];
  const seconds = typeof header === 'string' && header !== '' ? Number(header) : inBody(body);
  if (seconds === undefined || !Number.isFinite(seconds) || seconds < 0) return undefined;
  return Math.min(Math.ceil(seconds * 1_000), RETRY_AFTER_MAX_MS);
}

function inBody(body: Buffer): number | undefined {
  try {
    const { retry_after: seconds } = JSON.parse(body.toString('utf8')) as { retry_after?: unknown };
    return typeof seconds === 'number' ? seconds : undefined;
  } catch {
    return undefined; // The body is not JSON.
  }
}
