/** The table of a projection. Its columns are declared once, and a row that does not fit them does not compile. */
import {
  type Columns,
  isNullable,
  namedColumns,
  type ReadRow,
  sqlTypeOf,
  type TableSelection,
  type WrittenRow,
} from '@cardea/postgres';

/** A column's SQL type determines how `unnest` casts it, e.g. `text`, `uuid`, `timestamptz`, `jsonb`, `text[]`. */
export type Table = {
  /** The name without a schema. The tables are in the service's schema, or in that of a rebuild. */
  readonly name: string;
  readonly key: readonly string[];
  readonly columns: { readonly [column: string]: string };
  /** Columns that may be null. */
  readonly nullable?: readonly string[];
  /**
   * Columns with the time since which another column has its value. An upsert only changes them if that value changes.
   */
  readonly since?: { readonly [column: string]: string };
};

/** A change of one row of one named table. */
export type TableChange = { readonly table: string; readonly change: Change<object, object> };

/** The same as `TableChange`, for a consumer's tables. */
export type TableWrite = TableChange | { readonly table: string; readonly change: Upsert };

/** Refuses columns that the table does not have, including those from a spread. */
type Only<Row, Given> = {
  readonly [Name in Exclude<keyof Given, keyof Row>]: `no such column: ${Name & string}`;
};

export type TypedTable<Row, Key extends keyof Row, Read> = Table & {
  /** The columns that a query reads. */
  readonly select: <const Name extends keyof Read & string>(
    ...names: readonly Name[]
  ) => TableSelection<Pick<Read, Name>>;
  readonly put: <Given extends Row & Only<Row, Given>>(row: Given) => TableChange;
  /** For consumers. An existing row does not change. */
  readonly insert: <Given extends Row & Only<Row, Given>>(row: Given) => TableWrite;
  /**
   * For consumers. If the row omits a column of `fresh`, the column does not change. In a new row it gets the value in
   * `fresh`.
   */
  readonly upsert: <const Fresh extends Partial<Omit<Row, Key>> = Record<never, never>>(
    row: Omit<Row, keyof Fresh> & {
      readonly [Column in keyof Fresh & keyof Row]: Row[Column] | undefined;
    },
    fresh?: Fresh & Only<Row, Fresh>,
  ) => TableWrite;
  /** Columns that are not named do not change. */
  readonly patch: <Given extends Partial<Omit<Row, Key>> & Only<Omit<Row, Key>, Given>>(
    key: Pick<Row, Key>,
    columns: Given,
  ) => TableChange;
  readonly remove: (key: Pick<Row, Key>) => TableChange;
};

export function table<const C extends Columns, const Key extends keyof C & string>(
  name: string,
  {
    key,
    columns,
    since,
  }: {
    readonly key: readonly Key[];
    readonly columns: C;
    /** Example: `changed_at: 'services'` is the time since which `services` has its value. */
    readonly since?: { readonly [Column in keyof C]?: keyof C & string };
  },
): TypedTable<WrittenRow<C>, Key, ReadRow<C>> {
  return {
    name,
    key,
    columns: Object.fromEntries(
      Object.entries(columns).map(([column, type]) => [column, sqlTypeOf(type)]),
    ),
    nullable: Object.entries(columns).flatMap(([column, type]) =>
      isNullable(type) ? [column] : [],
    ),
    ...(since && { since: since as Table['since'] & object }),
    select: (...names) => namedColumns(names),
    put: (row) => ({ table: name, change: put(row) }),
    insert: (row) => ({
      table: name,
      change: {
        kind: 'upsert',
        row: row as { readonly [column: string]: unknown },
        keep: Object.keys(columns).filter((column) => !key.some((own) => own === column)),
      },
    }),
    upsert: (row, fresh) => ({ table: name, change: upsert(row, fresh) }),
    patch: (of, changed) => ({ table: name, change: { kind: 'patch', of, columns: changed } }),
    remove: (of) => ({ table: name, change: remove(of) }),
  };
}

export type CountTable<Key extends string, Count extends string> = Table & {
  /** If the row is missing, its counts begin at 0. */
  readonly add: (
    key: { readonly [Column in Key]: string },
    amounts: { readonly [Column in Count]: number },
  ) => TableChange;
};

/** A table of counts that only change by addition. All columns of its key are text. */
export const countTable = <const Key extends string, const Count extends string>(
  name: string,
  { key, counts }: { readonly key: readonly Key[]; readonly counts: readonly Count[] },
): CountTable<Key, Count> => ({
  name,
  key,
  columns: Object.fromEntries([
    ...key.map((column) => [column, 'text']),
    ...counts.map((column) => [column, 'bigint']),
  ]),
  add: (of, amounts) => ({ table: name, change: add(of, amounts) }),
});

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
