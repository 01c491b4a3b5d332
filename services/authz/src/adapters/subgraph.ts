/**
 * Reads the tuples of a tenant that can affect the answer to a question from the table, oldest first. An index of them
 * gives the same answer as an index of all tuples.
 */
import type { Database, RowOf } from '@cardea/read-models';
import type { Slices } from '../engine/in-slices.ts';
import { indexFor } from '../engine/model-index.ts';
import type { Question, TupleIndex, UsersQuestion } from '../engine/tuple-index.ts';
import {
  type Fields,
  numberOf,
  RELATIONS,
  type Relation,
  relationOf,
  satisfying,
  WILDCARD,
} from '../relations/relation.ts';
import type { Types } from '../relations/rules.ts';
import { rowsOfModel, type Source } from './rows-of-model.ts';
import { nodeKey } from './tuple-key.ts';
import { tupleRows } from './tuple-rows.ts';

/** Rows between two pauses. */
const SLICE_ROWS = 512;

type Principal = Pick<Fields, 'user_type' | 'user_id'>;
const TUPLE = tupleRows.select(
  'relation',
  'own_relation',
  'user_type',
  'user_id',
  'object_type',
  'object_id',
);
type Query = { readonly text: (tuples: string) => string; readonly values: readonly unknown[] };
/** The current tuples, or those of the time in the parameter, without tuples of parked streams. */
const NOW = 'authz.tuples';
const at = (moment: string, parked: string): string =>
  `(SELECT * FROM authz.tuple_spans WHERE from_at <= ${moment}::timestamptz
      AND (to_at IS NULL OR to_at > ${moment}::timestamptz)
      AND NOT key = ANY (SELECT decode(hex, 'hex') FROM unnest(${parked}::text[]) AS hex))`;

/** $1 is the tenant, $2 the keys of the principals and of their types' wildcards. */
const principals = (tuples: string) => `
  p(k) AS (
    SELECT unnest($2::uuid[]) UNION
    SELECT x.k FROM p
      JOIN ${tuples} t ON t.tenant_id = $1 AND t.subject_key = p.k AND t.relation = 5
      CROSS JOIN LATERAL (VALUES (t.object_key), (t.object_wild)) x(k))`;
const memberships = (tuples: string) => `
  SELECT t.* FROM p JOIN ${tuples} t
    ON t.tenant_id = $1 AND t.subject_key = p.k AND t.relation = 5`;

/** $3 are the keys of the objects. An object with a million grants is probed, not scanned. */
const checks = (tuples: string) => `
  WITH RECURSIVE ${principals(tuples)},
  a(k) AS (
    SELECT unnest($3::uuid[]) UNION
    SELECT t.subject_key FROM a
      JOIN ${tuples} t ON t.tenant_id = $1 AND t.object_key = a.k AND t.relation = 6)
  ${memberships(tuples)}
  UNION ALL
  SELECT t.* FROM a JOIN ${tuples} t
    ON t.tenant_id = $1 AND t.object_key = a.k AND t.relation = 6
  UNION ALL
  SELECT t.* FROM a CROSS JOIN p CROSS JOIN LATERAL (
    SELECT * FROM ${tuples} t WHERE t.tenant_id = $1 AND t.object_key = a.k
      AND t.relation = ANY('{0,1,2,3,4}') AND t.subject_key = p.k) t`;

/** $3 are the relations that a grant may have; $4 those that lead from an object to others. */
const objects = (tuples: string) => `
  WITH RECURSIVE ${principals(tuples)},
  o(k) AS (
    SELECT t.object_key FROM p
      JOIN ${tuples} t ON t.tenant_id = $1 AND t.subject_key = p.k AND t.relation = ANY($3::int[])
    UNION
    SELECT t.object_key FROM o JOIN ${tuples} t
      ON t.tenant_id = $1 AND t.subject_key = o.k AND t.relation = ANY($4::int[]))
  ${memberships(tuples)}
  UNION ALL
  SELECT t.* FROM p JOIN ${tuples} t ON t.tenant_id = $1 AND t.subject_key = p.k
    AND t.relation = ANY($3::int[]) AND t.relation <> 5
  UNION ALL
  SELECT t.* FROM o JOIN ${tuples} t
    ON t.tenant_id = $1 AND t.subject_key = o.k AND t.relation = ANY($4::int[])`;

/**
 * $2 is the object's key; $3 the relations that a grant may have; $4 those that lead to objects above; $5 those that
 * lead from a group to its members; $6 the requested type, whose wildcard is returned but not followed.
 */
const users = (tuples: string) => `
  WITH RECURSIVE a(k) AS (
    SELECT $2::uuid UNION
    SELECT t.subject_key FROM a
      JOIN ${tuples} t ON t.tenant_id = $1 AND t.object_key = a.k AND t.relation = ANY($4::int[])),
  h(k, type, id) AS (
    SELECT t.subject_key, t.user_type, t.user_id FROM a
      JOIN ${tuples} t ON t.tenant_id = $1 AND t.object_key = a.k AND t.relation = ANY($3::int[])
    UNION
    SELECT x.k, x.type, x.id FROM h CROSS JOIN LATERAL (
      SELECT t.subject_key, t.user_type, t.user_id FROM ${tuples} t
        WHERE t.tenant_id = $1 AND t.object_key = h.k AND t.relation = ANY($5::int[])
      UNION ALL
      SELECT t.subject_key, t.user_type, t.user_id FROM ${tuples} t
        WHERE h.id = '*' AND h.type <> $6 AND t.tenant_id = $1 AND t.object_type = h.type
          AND t.relation = ANY($5::int[])) x(k, type, id))
  SELECT t.* FROM a JOIN ${tuples} t ON t.tenant_id = $1 AND t.object_key = a.k
    AND (t.relation = ANY($3::int[]) OR t.relation = ANY($4::int[]))
  UNION
  SELECT t.* FROM h JOIN ${tuples} t
    ON t.tenant_id = $1 AND t.object_key = h.k AND t.relation = ANY($5::int[])
  UNION
  SELECT t.* FROM h JOIN ${tuples} t ON h.id = '*' AND h.type <> $6 AND t.tenant_id = $1
    AND t.object_type = h.type AND t.relation = ANY($5::int[])`;

const MEMBER = [numberOf.member];
const PARENT = [numberOf.parent];

/** The numbers of the relations that satisfy the requested one. */
const granting = (relation: Relation): readonly number[] =>
  RELATIONS.map((each) => numberOf[each]).filter(
    (number) => (satisfying[relation] & (1 << number)) !== 0,
  );
const flows = (relation: Relation): boolean => numberOf[relation] <= numberOf.can_write;

const keysOf = (principals: readonly Principal[]): readonly string[] =>
  principals.flatMap(({ user_type, user_id }) => [
    nodeKey(user_type, user_id),
    nodeKey(user_type, WILDCARD),
  ]);

export type Subgraphs = {
  /** The query for checks of any of the principals on any of the objects. */
  readonly ofChecks: (
    source: Source,
    principals: readonly Principal[],
    objects: readonly Pick<Fields, 'object_type' | 'object_id'>[],
  ) => Promise<TupleIndex>;
  readonly ofObjects: (source: Source, asked: readonly Question[]) => Promise<TupleIndex>;
  readonly ofUsers: (source: Source, asked: UsersQuestion) => Promise<TupleIndex>;
};

export function subgraphs(database: Database, inSlices: Slices): Subgraphs {
  const read = async (source: Source, query: Query): Promise<TupleIndex> => {
    const moment = source.asOf && [source.asOf, await parkedTuples(database)];
    const { types, rows } = await rowsOfModel(database, source, (types) => {
      const { text, values } = types === undefined ? query : EVERYTHING;
      const tuples = moment ? at(`$${values.length + 2}`, `$${values.length + 3}`) : NOW;
      return {
        text: text(tuples),
        select: TUPLE,
        order: 'position',
        values: [...values, ...(moment ?? [])],
      };
    });
    return inSlices(source.work, indexOf(types, rows));
  };
  return {
    ofChecks: (source, principals, objects) =>
      read(source, {
        text: checks,
        values: [
          keysOf(principals),
          objects.map(({ object_type, object_id }) => nodeKey(object_type, object_id)),
        ],
      }),
    ofObjects: (source, asked) => {
      const [{ relation }] = asked as readonly [Question];
      const onward = flows(relation) ? PARENT : [];
      return read(source, {
        text: objects,
        values: [keysOf(asked), granting(relation), onward],
      });
    },
    ofUsers: (source, { object_type, object_id, relation, user_type }) =>
      read(source, {
        text: users,
        values: [
          nodeKey(object_type, object_id),
          granting(relation),
          flows(relation) ? PARENT : [],
          relation === 'parent' ? [] : MEMBER,
          user_type,
        ],
      }),
  };
}

/** Keys of the tuples whose history is unknown, because one of their events could not be applied. */
async function parkedTuples({ system }: Database): Promise<readonly string[]> {
  const { rows } = await system.query<{ hex: string }>(
    `SELECT DISTINCT substr(stream_id, length('tuple-') + 1) AS hex FROM authz.parked_events
     WHERE owner = 'projection:tuple_spans'`,
  );
  return rows.map(({ hex }) => hex);
}

/** The rules of a tenant's own model may connect any two nodes, so all tuples are read. */
const EVERYTHING: Query = {
  text: (tuples) => `SELECT t.* FROM ${tuples} t WHERE t.tenant_id = $1`,
  values: [],
};

function* indexOf(
  types: Types | undefined,
  rows: readonly RowOf<typeof TUPLE>[],
): Generator<void, TupleIndex> {
  const index = indexFor(types);
  for (const [at, row] of rows.entries()) {
    index.write({ ...row, relation: relationOf(row) });
    if (at % SLICE_ROWS === SLICE_ROWS - 1) yield;
  }
  return index;
}
