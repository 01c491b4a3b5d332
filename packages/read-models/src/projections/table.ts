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
import { add, patch, put, remove, upsert } from './change.ts';
import type { Table, TableChange, TableWrite } from './projection.ts';

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
    patch: (of, changed) => ({ table: name, change: patch(of, changed) }),
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
