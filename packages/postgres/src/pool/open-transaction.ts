/**
 * BEGIN … COMMIT for a callback. BEGIN is sent with the first statement, and neither is sent for a single round trip.
 */
import type { QueryResultRow } from 'pg';
import type { Answers, Queryable, Sql, Statement, Transaction } from './database.ts';
import { type Answer, answersOf } from './one-trip.ts';

const BEGIN: Statement = { name: 'begin', text: 'BEGIN' };
const COMMIT: Statement = { name: 'commit', text: 'COMMIT' };

type Sending = {
  readonly together: (statements: readonly Statement[]) => Promise<readonly Answer[]>;
  readonly query: Queryable['query'];
};

export const statementOf = (sql: Sql, values?: readonly unknown[]): Statement =>
  typeof sql === 'string' ? { text: sql, values } : { ...sql, values };

const swallowed = (): Error => new Error('The transaction had failed and was rolled back.');

const hasBegun = async (begun: Promise<unknown>): Promise<void> => {
  await begun.catch(() => {
    throw swallowed();
  });
};

/** `end` commits what was begun, unless that has happened already. */
export function openTransaction(
  settings: readonly Statement[],
  sending: Sending,
): Transaction & { readonly end: () => Promise<void> } {
  let begun: Promise<readonly Answer[]> | undefined;
  let hasEnded = false;

  /** Sends statements only after BEGIN has succeeded. Otherwise each of them would be a separate transaction. */
  const send = async (statements: readonly Statement[]): Promise<readonly Answer[]> => {
    if (hasEnded) throw new Error('The transaction has ended.');
    if (begun !== undefined) {
      await hasBegun(begun);
      return sending.together(statements);
    }
    const head = [BEGIN, ...settings];
    begun = sending.together([...head, ...statements]);
    return (await begun).slice(head.length);
  };

  const commit = async (statements: readonly Statement[]): Promise<readonly Answer[]> => {
    if (begun === undefined && !hasEnded) {
      hasEnded = true;
      // Sent together outside of BEGIN they are one transaction already.
      return (await sending.together([...settings, ...statements])).slice(settings.length);
    }
    const answering = send([...statements, COMMIT]);
    hasEnded = true;
    const answers = await answering;
    // PostgreSQL answers COMMIT of a failed transaction with ROLLBACK, which means that the caller has swallowed the
    // error.
    if (answers.at(-1)?.command !== 'COMMIT') {
      throw swallowed();
    }
    return answers.slice(0, -1);
  };

  const together = async <Rows extends readonly QueryResultRow[]>(
    statements: readonly Statement[],
  ): Promise<Answers<Rows>> => answersOf<Rows>(await send(statements));

  return {
    query: async <Row extends QueryResultRow>(sql: Sql, values?: readonly unknown[]) => {
      if (begun === undefined || hasEnded) {
        const [answer] = await together<[Row]>([statementOf(sql, values)]);
        return answer;
      }
      await hasBegun(begun);
      return sending.query<Row>(sql, values);
    },
    together,
    commitWith: async (statements) => answersOf(await commit(statements)),
    end: async () => {
      if (begun !== undefined && !hasEnded) await commit([]);
    },
  };
}
