/**
 * The columns of a SELECT, declared once: the declaration gives the text after SELECT and the type of the rows. A row
 * cannot have a field that the statement does not read.
 */
import type { Columns, ReadRow } from './columns.ts';

export type Selection<Row> = {
  /** The columns as text for the statement: `id, name`. */
  readonly columns: string;
  /** Never set. It carries the type of the rows. */
  readonly row?: () => Row;
  /** Appends the columns of another table, or computed ones. */
  readonly and: <Other>(other: Selection<Other>) => Selection<Row & Other>;
  /** The same columns of a table that a LEFT JOIN adds, so that all may be null. */
  readonly joined: () => Selection<{ readonly [Name in keyof Row]: Row[Name] | null }>;
};

/** Columns of one table. */
export type TableSelection<Row> = Selection<Row> & {
  /** The columns of the table under this alias: `a.id, a.name`. */
  readonly of: (alias: string) => Selection<Row>;
};

/** The rows that a selection reads: `RowOf<typeof SHOWN>`. */
export type RowOf<S extends { readonly row?: () => unknown }> = ReturnType<NonNullable<S['row']>>;

/** Columns of a table that is declared elsewhere, or of a subquery. */
export const selection = <const C extends Columns>(columns: C): TableSelection<ReadRow<C>> =>
  namedColumns(Object.keys(columns));

/** One computed column: `computed('total', 'sum(n)', 'bigint')` is read as `sum(n) AS total`. */
export const computed = <const Name extends string, const Type extends Columns[string]>(
  name: Name,
  expression: string,
  _type: Type,
): Selection<ReadRow<{ readonly [Column in Name]: Type }>> =>
  selectionOf([`${expression} AS ${name}`]);

export const namedColumns = <Row>(names: readonly string[]): TableSelection<Row> => {
  const quoted = names.map((name) => (RESERVED.has(name) ? `"${name}"` : name));
  return {
    ...selectionOf<Row>(quoted),
    of: (alias) => selectionOf(quoted.map((name) => `${alias}.${name}`)),
  };
};

/** Keywords of SQL that are names of columns. */
const RESERVED: ReadonlySet<string> = new Set(['offset']);

const selectionOf = <Row>(parts: readonly string[]): Selection<Row> => ({
  columns: parts.join(', '),
  and: (other) => selectionOf([...parts, other.columns]),
  joined: () => selectionOf(parts),
});
