/**
 * Writes responses that are ready in one turn of the event loop together at its end. Each write to a sleeping client
 * wakes it, which costs the kernel more than the response itself, especially on virtual machines. The first of several
 * writes wakes a client or gateway for all of them. A single response does not wait, because the end of the turn
 * follows directly.
 */
import type { ServerResponse } from 'node:http';

/** This many responses are sent before the end of a turn, so that clients have work while it continues. */
export const TOGETHER_MAX = 8;

type Ending = {
  readonly response: Pick<ServerResponse, 'end'>;
  readonly content: string | Buffer;
  /** The encoding of a string. */
  readonly encoding: 'latin1' | 'utf8';
};

let waiting: Ending[] = [];

/** Ends a response whose headers are written already. */
export function endTogether(ending: Ending): void {
  waiting.push(ending);
  if (waiting.length === 1) setImmediate(endAll);
  else if (waiting.length === TOGETHER_MAX) endAll();
}

/** Call it also before a connection is closed in the middle of a turn, because a waiting response may be on it. */
export function endAll(): void {
  const ready = waiting;
  waiting = [];
  for (const { response, content, encoding } of ready) response.end(content, encoding);
}
