/** The change that one event makes to one row. A later change of the same row wins, column by column. */
export type Change<Row, Key> =
  | { readonly kind: 'put'; readonly row: Row }
  | { readonly kind: 'patch'; readonly of: Key; readonly columns: Partial<Row> }
  | { readonly kind: 'remove'; readonly of: Key }
  /** The only kind of change that a table of counts allows. A missing row counts from 0. */
  | { readonly kind: 'add'; readonly of: Key; readonly amounts: Amounts };

/**
 * A row from one event that may omit columns. In an existing row, the columns in `keep` do not change. Only consumers
 * write such rows, because a projection knows all events from which its rows are derived.
 */
export type Upsert = {
  readonly kind: 'upsert';
  readonly row: { readonly [column: string]: unknown };
  readonly keep: readonly string[];
};

export type Amounts = { readonly [column: string]: number };

export const put = <Row>(row: Row) => ({ kind: 'put', row }) as const;
export const patch = <Key, Columns>(of: Key, columns: Columns) =>
  ({ kind: 'patch', of, columns }) as const;
/** In an existing row, columns of `fresh` that the row omits do not change. A new row gets the value in `fresh`. */
export function upsert(
  row: { readonly [column: string]: unknown },
  fresh: { readonly [column: string]: unknown } = {},
): Upsert {
  const keep = Object.keys(fresh).filter((column) => row[column] === undefined);
  const unsaid = Object.entries(fresh).filter(([column]) => keep.includes(column));
  return { kind: 'upsert', row: { ...row, ...Object.fromEntries(unsaid) }, keep };
}
export const remove = <Key>(of: Key) => ({ kind: 'remove', of }) as const;
export const add = <Key>(of: Key, amounts: Amounts) => ({ kind: 'add', of, amounts }) as const;

/** Merges the changes of a batch, in order, to at most one per row, because a statement may change a row once. */
export function foldByKey<Row extends object, Key extends keyof Row>(
  key: readonly Key[],
  changes: Iterable<Change<Row, Pick<Row, Key>>>,
): readonly Change<Row, Pick<Row, Key>>[] {
  const rows = new Map<string, Change<Row, Pick<Row, Key>>>();
  for (const change of changes) {
    const of: Pick<Row, Key> = change.kind === 'put' ? change.row : change.of;
    const name = JSON.stringify(key.map((column) => nameable(of[column])));
    const before = rows.get(name);
    rows.set(name, before === undefined ? change : after(before, change));
  }
  return [...rows.values()];
}

const nameable = (value: unknown): unknown =>
  typeof value === 'bigint' ? value.toString() : value;

function after<Row extends object, Key>(
  before: Change<Row, Key>,
  change: Change<Row, Key>,
): Change<Row, Key> {
  switch (change.kind) {
    case 'put':
    case 'remove':
      return change;
    case 'patch':
      return patched(before, change);
    case 'add':
      if (before.kind !== 'add') throw mixed();
      return add(change.of, sums(before.amounts, change.amounts));
  }
}

function patched<Row extends object, Key>(
  before: Change<Row, Key>,
  { of, columns }: Extract<Change<Row, Key>, { kind: 'patch' }>,
): Change<Row, Key> {
  switch (before.kind) {
    case 'put':
      return put({ ...before.row, ...columns });
    case 'patch':
      return patch(of, { ...before.columns, ...columns });
    case 'remove':
      return before; // A patch does not create a row that was deleted.
    case 'add':
      throw mixed();
  }
}

const sums = (before: Amounts, amounts: Amounts): Amounts => ({
  ...before,
  ...Object.fromEntries(
    Object.entries(amounts).map(([column, by]) => [column, (before[column] ?? 0) + by]),
  ),
});

const mixed = (): Error => new Error('A table of counts has no other changes.');
