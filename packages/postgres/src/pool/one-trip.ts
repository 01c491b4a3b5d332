/**
 * Sends several statements in one round trip, with one Sync after the last. Outside BEGIN they are one transaction,
 * which the Sync commits. After the first refusal, including that of the commit, PostgreSQL skips everything up to the
 * Sync.
 */
import {
  type ClientBase,
  type Connection,
  DatabaseError,
  Query,
  type QueryResultRow,
  Result,
  types,
} from 'pg';
import { prepareValue } from 'pg/lib/utils.js';
import type { Answers, Queryable, Sql, Statement, Transaction } from './database.ts';

export type Answer = {
  readonly command: string;
  readonly rows: readonly Record<string, unknown>[];
  readonly rowCount: number | null;
};

/** The results in the types that the caller has declared. */
export function answersOf<Rows extends readonly QueryResultRow[]>(answers: readonly Answer[]) {
  const typed: { readonly rows: Answer['rows']; readonly rowCount: number }[] = [];
  for (const { rows, rowCount } of answers) typed.push({ rows, rowCount: rowCount ?? 0 });
  return typed as unknown as Answers<Rows>;
}

/** Throws the error of the first refused statement. After any other error the outcome is unknown. */
export async function inOneTrip(
  client: ClientBase,
  statements: readonly Statement[],
  limitMs: number,
): Promise<readonly Answer[]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly Answer[]>();
  client.query(new OneTrip(statements, limitMs, { resolve, reject }));
  try {
    return await promise;
  } catch (error) {
    // The driver's stack trace leads to the socket; this one leads to the caller.
    if (error instanceof DatabaseError) Error.captureStackTrace(error);
    throw error;
  }
}

/** The driver's connection, with members that its types lack. */
type Wire = Connection & {
  readonly parsedStatements: { [name: string]: string };
  readonly submittedNamedStatements: { [name: string]: string };
  parse(message: { readonly name: string; readonly text: string }): void;
  bind(message: { readonly statement: string; readonly values: readonly unknown[] }): void;
  describe(message: { readonly type: 'P' }): void;
  execute(message: undefined): void;
};

/** A result that the driver fills, with members that its types lack. */
type Filled = Result & {
  addFields(fields: unknown): void;
  parseRow(fields: unknown): Record<string, unknown>;
  addRow(row: Record<string, unknown>): void;
  addCommandComplete(message: unknown): void;
};

type Sent = {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
  readonly onCopied: Statement['onCopied'];
  readonly result: Filled;
};
type Settle = {
  readonly resolve: (answers: readonly Answer[]) => void;
  readonly reject: (error: Error) => void;
};

/** The query object that the driver uses. It calls the `handle…` methods with the server's messages in order. */
class OneTrip extends Query {
  /** The driver's time limit in milliseconds. */
  readonly query_timeout: number;
  /** The name of the statement that is answered next, under which the driver records prepared statements. */
  declare name: string;
  declare text: string;
  readonly #all: readonly Sent[];
  #answered = 0;
  #unreadable: Error | undefined;
  declare callback: (error: Error | null | undefined, answers?: readonly Answer[]) => void;

  constructor(statements: readonly Statement[], limitMs: number, { resolve, reject }: Settle) {
    super('', (error, answers) => {
      if (error) reject(error);
      else resolve(answers as unknown as readonly Answer[]);
    });
    this.query_timeout = limitMs;
    // Converted before anything is sent, because a value that cannot be converted must not leave half of the statements
    // sent.
    const all: Sent[] = [];
    for (const { name = '', text, values = [], onCopied } of statements) {
      const result = new Result('', types) as Filled;
      all.push({ name, text, values: values.map(prepareValue), onCopied, result });
    }
    this.#all = all;
    this.#next(0);
  }

  override submit = (connection: Connection): Error | null => {
    const wire = connection as Wire;
    for (const { name, text } of this.#all) {
      if ((known(wire, name) ?? text) === text) continue;
      return new Error(`The name ${name} is that of another statement.`);
    }
    wire.stream.cork();
    for (const { name, text, values } of this.#all) {
      if (known(wire, name) === undefined) {
        wire.parse({ name, text });
        if (name !== '') wire.submittedNamedStatements[name] = text;
      }
      wire.bind({ statement: name, values });
      wire.describe({ type: 'P' });
      wire.execute(undefined);
    }
    wire.sync();
    wire.stream.uncork();
    return null;
  };

  handleRowDescription({ fields }: { readonly fields: unknown }): void {
    this.#all[this.#answered]?.result.addFields(fields);
  }

  handleDataRow({ fields }: { readonly fields: unknown }): void {
    const current = this.#all[this.#answered];
    try {
      current?.result.addRow(current.result.parseRow(fields));
    } catch (error) {
      this.#unreadable ??= error as Error;
    }
  }

  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    try {
      this.#all[this.#answered]?.onCopied?.(chunk);
    } catch (error) {
      this.#unreadable ??= error as Error;
    }
  }

  handleCommandComplete(message: unknown): void {
    this.#all[this.#answered]?.result.addCommandComplete(message);
    this.#next(this.#answered + 1);
  }

  handleEmptyQuery(): void {
    this.#next(this.#answered + 1);
  }

  /** After a refusal the server has skipped the rest, so it has not prepared those statements. */
  handleError(error: Error, connection: Connection): void {
    const { submittedNamedStatements } = connection as Wire;
    for (const { name } of this.#all.slice(this.#answered)) delete submittedNamedStatements[name];
    this.callback(error);
  }

  handleReadyForQuery(): void {
    if (this.#unreadable !== undefined) {
      this.callback(this.#unreadable);
      return;
    }
    const answers: Answer[] = [];
    for (const { result } of this.#all) answers.push(result);
    this.callback(null, answers);
  }

  #next(index: number): void {
    this.#answered = index;
    this.name = this.#all[index]?.name ?? '';
    this.text = this.#all[index]?.text ?? '';
  }
}

const known = (wire: Wire, name: string): string | undefined =>
  name === '' ? undefined : (wire.parsedStatements[name] ?? wire.submittedNamedStatements[name]);

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

/**
 * BEGIN … COMMIT for a callback. BEGIN is sent with the first statement, and neither is sent for a single round trip.
 * `end` commits what was begun, unless that has happened already.
 */
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
