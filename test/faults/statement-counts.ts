/** Statements of one request, told apart: what it waits for itself, and what follows from it. */
import type { Logged, LoggedStatement } from './statement-log.ts';

export type Counts = {
  /** On the connections of requests and decisions, those of policies and consumers included. */
  readonly own: number;
  /** All others, less those that an idle process sends in that time. */
  readonly following: number;
};

/** What followers of a log ask the event store. */
const FOLLOWING = /^(read-log|heads)$/;
const NOTICES = /^(LISTEN|SELECT pg_notify|SELECT 1$)/;

const isOwn = ({ sender, name, text }: LoggedStatement): boolean =>
  /^cardea(-requests| event store)$/.test(sender) && !FOLLOWING.test(name) && !NOTICES.test(text);

/** Statements a second of a process with nothing to do. */
export const idleRate = ({ statements, seconds }: Logged): number => statements.length / seconds;

/** Of several plays the fewest: what happened to fall into one of them is no part of the request. */
export function countsOf(plays: readonly Logged[], idlePerSecond: number): Counts {
  const own = plays.map(({ statements }) => statements.filter(isOwn).length);
  const following = plays.map(({ statements, seconds }, play) =>
    Math.max(0, Math.round(statements.length - (own[play] ?? 0) - idlePerSecond * seconds)),
  );
  return { own: Math.min(...own), following: Math.min(...following) };
}
