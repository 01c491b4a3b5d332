/** Statements of one request, told apart: what it waits for itself, and what follows from it. */
import type { Logged, LoggedStatement } from './statement-log.ts';

/** The statements that one play took. */
export type Counts = {
  /** On the connections of requests and decisions, those of policies and consumers included. */
  readonly own: number;
  /** The same, where reads and appends that share a statement count each. */
  readonly ownShares: number;
  /** All others, less those that an idle process sends in that time. */
  readonly following: number;
};

/** What followers of a log ask the event store. */
const FOLLOWING = /^(read-log|heads|other-sessions)$/;
const NOTICES = /^(LISTEN|SELECT pg_notify|SELECT 1$)/;

const isOwn = ({ sender, name, text }: LoggedStatement): boolean =>
  /^cardea(-requests| event store)$/.test(sender) && !FOLLOWING.test(name) && !NOTICES.test(text);

/** Statements a second of a process with nothing to do. */
export const idleRate = ({ statements, seconds }: Logged): number => statements.length / seconds;

export function countsOf({ statements, seconds }: Logged, idlePerSecond: number): Counts {
  const own = statements.filter(isOwn);
  const others = statements.length - own.length - idlePerSecond * seconds;
  return {
    own: own.length,
    ownShares: own.reduce((sum, { shares }) => sum + shares, 0),
    following: Math.max(0, Math.round(others)),
  };
}
