/** The statements of one request, in two kinds: those that it waits for, and those that follow from it. */
import type { Logged, LoggedStatement } from './statement-log.ts';

/** The numbers of statements of one play. */
export type Counts = {
  /** Statements on the connections of requests and decisions, including those of policies and consumers. */
  readonly own: number;
  /** Counts like `own`, but each read or append that shares a statement counts separately. */
  readonly ownShares: number;
  /** All other statements, without those that an idle process sends in that time. */
  readonly following: number;
};

/** Statements that followers of a log send to the event store. */
const FOLLOWING = /^(read-log|heads|other-sessions)$/;
const NOTICES = /^(LISTEN|SELECT pg_notify|SELECT 1$)/;

const isOwn = ({ sender, name, text }: LoggedStatement): boolean =>
  /^cardea(-requests| event store)$/.test(sender) && !FOLLOWING.test(name) && !NOTICES.test(text);

/** Statements per second of an idle process. */
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
