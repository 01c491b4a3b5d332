/**
 * Statements that are requested in one turn of the event loop share a transaction and a round trip, because one event
 * wakes all projections of its log at once. They must be independent of each other and need not be durable. When the
 * server refuses one, each is sent in a separate transaction, and only the faulty one fails.
 */
import { isOutage } from '@cardea/log-follower';
import {
  type Database,
  type Queryable,
  type Sql,
  type Statement,
  statementOf,
} from '@cardea/postgres';
import { outsideTransactions } from '@cardea/runtime';
import type { QueryResultRow } from 'pg';

type Answer = { readonly rows: readonly QueryResultRow[]; readonly rowCount: number };
type Answering = readonly Answer[] | Promise<readonly Answer[]>;
type Waiting = {
  readonly statements: readonly Statement[];
  readonly resolve: (answers: Answering) => void;
  readonly reject: (error: unknown) => void;
};

export interface SharedTransactions extends Queryable {
  /** Runs the statements in order and in one transaction, which other callers may share. */
  together(statements: readonly Statement[]): Promise<readonly Answer[]>;
}

/** `joining` is called before a transaction is sent. Statements that it requests are included. */
export function sharedTransactions(
  database: Pick<Database, 'asSystemAtOnce'>,
  joining: () => void = () => {},
): SharedTransactions {
  const send = async (all: readonly Waiting[]): Promise<void> => {
    const [first, ...others] = all;
    if (first === undefined) return;
    if (others.length === 0) return first.resolve(database.asSystemAtOnce(first.statements));
    try {
      const answers: readonly Answer[] = await database.asSystemAtOnce(
        all.flatMap(({ statements }) => statements),
      );
      let next = 0;
      for (const { statements, resolve } of all) {
        resolve(answers.slice(next, next + statements.length));
        next += statements.length;
      }
    } catch (error) {
      // After an outage the outcome is unknown. Each follower reads its checkpoint again.
      for (const each of all) {
        if (isOutage(error)) each.reject(error);
        else each.resolve(database.asSystemAtOnce(each.statements));
      }
    }
  };

  const add = perTurn(send, joining);
  const together = (statements: readonly Statement[]): Promise<readonly Answer[]> => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly Answer[]>();
    add({ statements, resolve, reject });
    return promise;
  };
  return {
    together,
    query: async <Row extends QueryResultRow>(sql: Sql, values?: readonly unknown[]) => {
      const [answer] = await together([statementOf(sql, values)]);
      return answer as { readonly rows: readonly Row[]; readonly rowCount: number };
    },
  };
}

/**
 * Collects what is added in one turn of the event loop, and passes it on together. `joining` may add more just before
 * that.
 */
export function perTurn<T>(
  send: (all: readonly T[]) => Promise<void>,
  joining: () => void = () => {},
): (each: T) => void {
  let waiting: T[] = [];
  const flush = (): void => {
    joining();
    const all = waiting;
    waiting = [];
    void send(all);
  };
  return (each) => {
    if (waiting.length === 0) outsideTransactions(setImmediate, flush);
    waiting.push(each);
  };
}
