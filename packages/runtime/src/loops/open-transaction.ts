/**
 * Marks a transaction for as long as it is open. A caller that has one database connection and waits for a second one
 * blocks others that do the same, until all of them time out. So code that takes a connection, or waits for something
 * that needs one, checks the mark first.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Logger } from '../ports.ts';
import { metrics } from '../telemetry/metrics.ts';

type Mark = { open: boolean };

const marks = new AsyncLocalStorage<Mark | undefined>();
/** The maximum number of call sites that are logged for requesting a second connection. */
const PLACES_MAX = 100;
const placesLogged = new Set<string>();
let throws = false;

/** A bug: code inside a transaction requested more than the transaction's own connection. */
export class NestedConnection extends Error {
  override readonly name = 'NestedConnection';
  constructor(what: string) {
    super(`${what} was asked for inside an open transaction`);
  }
}

/**
 * Only tests call it. From then on a nested connection throws. Outside of tests it is counted and logged, because a
 * consumer would attribute the error to the event and park its stream.
 */
export function throwOnNestedConnections(does = true): void {
  throws = does;
}

/**
 * Marks a transaction. Everything that `run` calls, directly or later, is inside it until the transaction is closed.
 */
export function transactionTag() {
  const mark: Mark = { open: true };
  return {
    run: <T>(work: () => T): T => marks.run(mark, work),
    /** Called at COMMIT and ROLLBACK. Work that was started inside and continues is then no longer inside. */
    close: (): void => {
      mark.open = false;
    },
  };
}

/** Runs work for many callers outside of the transaction of the caller that happened to start it. */
export const outsideTransactions = <T, Args extends unknown[]>(
  work: (...args: Args) => T,
  ...args: Args
): T => marks.run(undefined, work, ...args);

/** Call it before taking a connection, or before waiting for a connection that others use. */
export function expectNoTransaction(what: string, log?: Logger): void {
  if (marks.getStore()?.open !== true) return;
  const nested = new NestedConnection(what);
  metrics.nestedConnections.inc();
  if (throws) throw nested;
  const place = nested.stack ?? what;
  if (placesLogged.has(place) || placesLogged.size >= PLACES_MAX) return;
  placesLogged.add(place);
  log?.error({ what, place }, 'a connection was asked for inside a transaction');
}
