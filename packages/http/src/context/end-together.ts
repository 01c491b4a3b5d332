/**
 * Answers that are ready in one turn of the event loop are written together at its end. Each write to a client
 * that sleeps wakes it, which costs the kernel, on virtual machines above all, more than the answer itself; the
 * first of several wakes a client or gateway for all of them. A single answer waits for nothing: the end of the
 * turn comes directly after it.
 */
import type { ServerResponse } from 'node:http';

/** This many answers are sent before the end of a turn, so that clients have work while it continues. */
export const TOGETHER_MAX = 8;

type Ending = {
  readonly response: Pick<ServerResponse, 'end'>;
  readonly text: string;
  readonly encoding: 'latin1' | 'utf8';
};

let waiting: Ending[] = [];

/** Ends a response whose head is written already. */
export function endTogether(ending: Ending): void {
  waiting.push(ending);
  if (waiting.length === 1) setImmediate(endAll);
  else if (waiting.length === TOGETHER_MAX) endAll();
}

/** Also before a connection is closed in the middle of a turn, which may be one of theirs. */
export function endAll(): void {
  const ready = waiting;
  waiting = [];
  for (const { response, text, encoding } of ready) response.end(text, encoding);
}
