/** Columns of tables: their SQL types, and the TypeScript types of their values when written and when read. */
import type { Json } from '@cardea/contracts';

type SqlTypes = {
  readonly text: { readonly written: string; readonly read: string };
  readonly uuid: { readonly written: string; readonly read: string };
  readonly boolean: { readonly written: boolean; readonly read: boolean };
  readonly smallint: { readonly written: number; readonly read: number };
  readonly integer: { readonly written: number; readonly read: number };
  /** Read as text, because a JavaScript number cannot represent all of its values. */
  readonly bigint: { readonly written: bigint | number; readonly read: string };
  readonly timestamptz: { readonly written: string | Date; readonly read: Date };
  /** Written as hexadecimal digits after `\x`. */
  readonly bytea: { readonly written: string; readonly read: Buffer };
  readonly jsonb: { readonly written: Json; readonly read: Json };
  readonly 'text[]': { readonly written: readonly string[]; readonly read: string[] };
};
type SqlType = keyof SqlTypes;

/**
 * A column that has only some values of its SQL type. `value` is never set. It only carries the type of these values.
 */
type Narrowed<Type extends SqlType, Value> = { readonly sql: Type; readonly value?: () => Value };
type NotNull = SqlType | Narrowed<SqlType, unknown>;
type OrNull<Column extends NotNull> = { readonly orNull: Column };
type Column = NotNull | OrNull<NotNull>;
export type Columns = { readonly [column: string]: Column };

/** Marks a column that may be null. */
export const orNull = <const Type extends NotNull>(column: Type): OrNull<Type> => ({
  orNull: column,
});

/** A text column with these values only: `textOf<'active' | 'suspended'>()`. */
export const textOf = <Value extends string>(): Narrowed<'text', Value> => ({ sql: 'text' });
/** An array of such texts. */
export const textsOf = <Value extends string>(): Narrowed<'text[]', Value[]> => ({
  sql: 'text[]',
});
/** A JSON column whose values have this type. */
export const jsonOf = <Value>(): Narrowed<'jsonb', Value> => ({ sql: 'jsonb' });

export const isNullable = (column: Column): boolean =>
  typeof column !== 'string' && 'orNull' in column;

export function sqlTypeOf(column: Column): SqlType {
  if (typeof column === 'string') return column;
  return 'orNull' in column ? sqlTypeOf(column.orNull) : column.sql;
}

type Frozen<Value> = Value extends object
  ? { readonly [Name in keyof Value]: Frozen<Value[Name]> }
  : Value;

/** The mutable form of a value. A value that was just parsed belongs to its reader, who may change it. */
type Thawed<Value> = Value extends object
  ? { -readonly [Name in keyof Value]: Thawed<Value[Name]> }
  : Value;

type ValueOf<C, Way extends 'written' | 'read'> = C extends SqlType
  ? SqlTypes[C][Way]
  : C extends OrNull<infer Inner>
    ? ValueOf<Inner, Way> | null
    : C extends Narrowed<SqlType, infer Value>
      ? { readonly written: Frozen<Value>; readonly read: Thawed<Value> }[Way]
      : never;

/** A row as it is written. */
export type WrittenRow<C extends Columns> = {
  readonly [Name in keyof C]: ValueOf<C[Name], 'written'>;
};

/** A row as the driver returns it. */
export type ReadRow<C extends Columns> = {
  readonly [Name in keyof C]: ValueOf<C[Name], 'read'>;
};
