/** The rows that the events of a batch write, in as few statements as their order allows. */
import type { Statement } from '@cardea/read-models';

/** A statement over arrays, one per parameter, with one element per row. */
export type RowWriter = {
  readonly name: string;
  /** The only table that it touches. */
  readonly table: string;
  readonly text: string;
};

/** Rows with the same key never share a statement, so each sees what those before it have made of the row. */
export type RowEffect = {
  readonly write: RowWriter;
  readonly key: readonly (string | number)[];
  /** Arrays travel as JSON or as array literals, for all rows of one column are one array. */
  readonly row: readonly (string | number | boolean | null)[];
};

/** Other statements stay where they are among all others. */
export const inFewStatements = (
  effects: readonly (Statement | RowEffect)[],
): readonly Statement[] => {
  const groups: Group[] = [];
  for (const effect of effects) {
    if (!('write' in effect)) {
      groups.push({ statement: effect });
      continue;
    }
    const group = groupOf(groups, effect);
    if (group === undefined) groups.push(started(effect));
    else add(group, effect);
  }
  return groups.map((group) => ('statement' in group ? group.statement : statementOf(group)));
};

type RowGroup = {
  readonly write: RowWriter;
  readonly keys: Set<string>;
  readonly rows: RowEffect['row'][];
};
type Group = RowGroup | { readonly statement: Statement };

/** The last group that touches the table, if the effect may join it. */
const groupOf = (groups: readonly Group[], { write, key }: RowEffect): RowGroup | undefined => {
  const last = groups.findLast(
    (group) => 'statement' in group || group.write.table === write.table,
  );
  if (last === undefined || 'statement' in last) return undefined;
  return last.write === write && !last.keys.has(String(key)) ? last : undefined;
};

const started = ({ write, key, row }: RowEffect): RowGroup => ({
  write,
  keys: new Set([String(key)]),
  rows: [row],
});

const add = (group: RowGroup, { key, row }: RowEffect): void => {
  group.keys.add(String(key));
  group.rows.push(row);
};

const statementOf = ({ write: { name, text }, rows }: RowGroup): Statement => ({
  name,
  text,
  values: (rows[0] ?? []).map((_, column) => rows.map((row) => row[column])),
});
