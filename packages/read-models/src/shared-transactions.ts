/**
 * Statements that are asked for in one turn of the event loop share a transaction and a round trip: one event
 * wakes all projections of its log at once. They must be independent of each other and not durable. When
 * the server refuses one, each is sent in a transaction of its own, and only the guilty one fails.
 */
import { isOutage } from '@cardea/log-follower';
import type { QueryResultRow } from 'pg';
import type { Database, Queryable, Sql, Statement } from './database.ts';
import { statementOf } from './open-transaction.ts';
import { perTurn } from './per-turn.ts';

type Answer = { readonly rows: readonly QueryResultRow[]; readonly rowCount: number };
type Waiting = {
  readonly statement: Statement;
  readonly resolve: (answer: Answer | Promise<Answer>) => void;
  readonly reject: (error: unknown) => void;
};

/** `joining`: called before a transaction is sent; what it asks for travels along. */
export function sharedTransactions(
  database: Pick<Database, 'system' | 'asSystemAtOnce'>,
  joining: () => void = () => {},
): Queryable {
  const alone = ({ statement: { name, text, values } }: Waiting): Promise<Answer> =>
    database.system.query(name === undefined ? text : { name, text }, values);

  const send = async (all: readonly Waiting[]): Promise<void> => {
    const [first, ...others] = all;
    if (first === undefined) return;
    if (others.length === 0) return first.resolve(alone(first));
    try {
      const statements = all.map(({ statement }) => statement);
      const answers: readonly Answer[] = await database.asSystemAtOnce(statements);
      for (const [index, { resolve }] of all.entries()) resolve(answers[index] as Answer);
    } catch (error) {
      // After an outage nobody knows what was committed: each reads its checkpoint again.
      for (const each of all) {
        if (isOutage(error)) each.reject(error);
        else each.resolve(alone(each));
      }
    }
  };

  const add = perTurn(send, joining);
  return {
    query: <Row extends QueryResultRow>(sql: Sql, values?: readonly unknown[]) =>
      new Promise<{ readonly rows: readonly Row[]; readonly rowCount: number }>(
        (resolve, reject) => {
          const statement = statementOf(sql, values);
          add({ statement, resolve: resolve as Waiting['resolve'], reject });
        },
      ),
  };
}
