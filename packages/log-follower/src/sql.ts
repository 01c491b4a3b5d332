/** Rows in, rows out: what a follower needs of a database, whoever opens it. */
export interface Sql {
  query<Row extends Record<string, unknown> = Record<string, unknown>>(
    sql: string | { readonly name: string; readonly text: string },
    values?: readonly unknown[],
  ): Promise<{ readonly rows: readonly Row[]; readonly rowCount: number }>;
}

export interface SqlDatabase {
  /** One statement that is a transaction of its own. */
  readonly system: Sql;
  asSystem<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
}

/** Takes a value of a statement; answers how the text names it. */
export type Parameter = (value: unknown) => string;

export function parameters(): { readonly values: unknown[]; readonly parameter: Parameter } {
  const values: unknown[] = [];
  return { values, parameter: (value) => `$${values.push(value)}` };
}
