/** The part of a database that a follower needs: statements in, rows out. */
export interface Sql {
  query<Row extends Record<string, unknown> = Record<string, unknown>>(
    sql: string | { readonly name: string; readonly text: string },
    values?: readonly unknown[],
  ): Promise<{ readonly rows: readonly Row[]; readonly rowCount: number }>;
}

export interface SqlDatabase {
  /** Runs one statement as a separate transaction. */
  readonly system: Sql;
  asSystem<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
}

/** Adds a value to a statement. Returns its placeholder. */
export type Parameter = (value: unknown) => string;

export function parameters(): { readonly values: unknown[]; readonly parameter: Parameter } {
  const values: unknown[] = [];
  return { values, parameter: (value) => `$${values.push(value)}` };
}
