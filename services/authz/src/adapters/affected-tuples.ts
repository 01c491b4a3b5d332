/**
 * Reads everything that a batch of changes can affect: the principals and objects for which an answer may change, and
 * the tuples that decide about them. It is one statement and therefore sees one state of the table.
 */
import { type Database, orNull, type RowOf, selection, textOf } from '@cardea/read-models';
import type { Node } from '../engine/dry-run.ts';
import { type Fields, relationOf, WILDCARD } from '../relations/relation.ts';
import type { Types } from '../relations/rules.ts';
import { type RowsQuery, rowsOfModel, type Source } from './rows-of-model.ts';
import { nodeKey } from './tuple-key.ts';
import { tupleRows } from './tuple-rows.ts';

/** The most principals, and the most objects, that are considered. Others are left out. */
const NODES_MAX = 50_000;

export type Affected = {
  readonly principals: readonly Node[];
  readonly objects: readonly Node[];
  /** The tuples, oldest first. */
  readonly tuples: readonly Fields[];
  /** Whether more principals or objects are affected than the result contains. */
  readonly isCut: boolean;
  /** The tenant's own model, if it has one. */
  readonly types: Types | undefined;
};

/** The rows of principals and objects use the columns of the tuple that would contain them. */
const AFFECTED_ROW = selection({
  kind: textOf<'principal' | 'object' | 'tuple'>(),
  relation: orNull('smallint'),
}).and(tupleRows.select('own_relation', 'user_type', 'user_id', 'object_type', 'object_id'));
type AffectedQuery = RowsQuery<RowOf<typeof AFFECTED_ROW>>;
type AffectedRows = readonly RowOf<typeof AFFECTED_ROW>[];

/**
 * The key of (type, "*"), as `nodeKey` computes it. Types contain no characters that SQL and JavaScript print
 * differently.
 */
const wildcardOf = (type: string): string =>
  `encode(substr(sha256(convert_to('[' || to_json(${type}) || ',"*"]', 'UTF8')), 1, 16), 'hex')::uuid`;

/**
 * $2-$4 are key, type and id of the changed tuples' subjects; $5-$7 those of their objects. A principal is affected if
 * it is one of the subjects, a direct or indirect member of one, or acts through a grant above the subject of a parent
 * tuple. An object is affected if it is one of the objects, below one, or granted to a group above the object of a
 * member tuple. Objects count as principals too, which a wildcard may represent. Every path with several changes begins
 * and ends in such a node.
 */
const AFFECTED = `
  WITH RECURSIVE subjects(k, type, id) AS (
    SELECT * FROM unnest($2::uuid[], $3::text[], $4::text[])),
  changed(k, type, id) AS (
    SELECT * FROM unnest($5::uuid[], $6::text[], $7::text[])),
  above(k) AS (
    SELECT k FROM subjects UNION
    SELECT t.subject_key FROM above
      JOIN authz.tuples t ON t.tenant_id = $1 AND t.object_key = above.k AND t.relation = 6),
  holders(k, type, id) AS (
    SELECT * FROM subjects UNION
    SELECT t.subject_key, t.user_type, t.user_id FROM above
      JOIN authz.tuples t ON t.tenant_id = $1 AND t.object_key = above.k
        AND t.relation = ANY ('{0,1,2,3,4}')
    UNION
    SELECT x.k, x.type, x.id FROM holders h CROSS JOIN LATERAL (
      SELECT t.subject_key, t.user_type, t.user_id FROM authz.tuples t
        WHERE t.tenant_id = $1 AND t.object_key = h.k AND t.relation = 5
      UNION ALL
      SELECT t.subject_key, t.user_type, t.user_id FROM authz.tuples t
        WHERE h.id = '${WILDCARD}' AND t.tenant_id = $1 AND t.user_type = h.type
      UNION ALL
      SELECT t.object_key, t.object_type, t.object_id FROM authz.tuples t
        WHERE h.id = '${WILDCARD}' AND t.tenant_id = $1 AND t.object_type = h.type) x(k, type, id)),
  principals AS MATERIALIZED (
    SELECT * FROM holders UNION SELECT * FROM changed LIMIT ${NODES_MAX + 1}),
  types AS (SELECT DISTINCT type FROM (
    SELECT type FROM principals UNION ALL SELECT type FROM changed) each),
  p(k) AS (
    SELECT k FROM principals UNION
    SELECT k FROM changed UNION
    SELECT ${wildcardOf('type')} FROM types UNION
    SELECT x.k FROM p
      JOIN authz.tuples t ON t.tenant_id = $1 AND t.subject_key = p.k AND t.relation = 5
      CROSS JOIN LATERAL (VALUES (t.object_key), (t.object_wild)) x(k)),
  reach(k) AS (
    SELECT k FROM changed UNION
    SELECT ${wildcardOf('type')} FROM changed UNION
    SELECT x.k FROM reach
      JOIN authz.tuples t ON t.tenant_id = $1 AND t.subject_key = reach.k AND t.relation = 5
      CROSS JOIN LATERAL (VALUES (t.object_key), (t.object_wild)) x(k)),
  granted(k, type, id) AS (
    SELECT * FROM changed UNION
    SELECT t.object_key, t.object_type, t.object_id FROM reach
      JOIN authz.tuples t ON t.tenant_id = $1 AND t.subject_key = reach.k
        AND t.relation = ANY ('{0,1,2,3,4,5}')
    UNION
    SELECT t.object_key, t.object_type, t.object_id FROM granted g
      JOIN authz.tuples t ON t.tenant_id = $1 AND t.subject_key = g.k AND t.relation = 6),
  objects AS MATERIALIZED (SELECT * FROM granted LIMIT ${NODES_MAX + 1}),
  a(k) AS (
    SELECT k FROM objects UNION
    SELECT k FROM subjects UNION
    SELECT t.subject_key FROM a
      JOIN authz.tuples t ON t.tenant_id = $1 AND t.object_key = a.k AND t.relation = 6),
  found AS (
    SELECT t.* FROM p JOIN authz.tuples t
      ON t.tenant_id = $1 AND t.subject_key = p.k AND t.relation = 5
    UNION ALL
    SELECT t.* FROM a JOIN authz.tuples t
      ON t.tenant_id = $1 AND t.object_key = a.k AND t.relation = 6
    UNION ALL
    SELECT t.* FROM p JOIN authz.tuples t
      ON t.tenant_id = $1 AND t.subject_key = p.k AND t.relation = ANY ('{0,1,2,3,4}')
      WHERE t.object_key IN (SELECT k FROM a))
  SELECT kind, relation, NULL AS own_relation, user_type, user_id, object_type, object_id,
    position FROM (
    SELECT 'principal' AS kind, NULL::smallint AS relation, type AS user_type, id AS user_id,
      '' AS object_type, '' AS object_id, 0::bigint AS position FROM principals
    UNION ALL
    SELECT 'object', NULL, '', '', type, id, 0 FROM objects
    UNION ALL
    SELECT 'tuple', relation, user_type, user_id, object_type, object_id, position FROM found
  ) AS every`;

/** The rules of a tenant's own model may connect any two nodes, so all tuples are read. */
const EVERYTHING = `
  SELECT 'tuple' AS kind, relation, own_relation, user_type, user_id, object_type, object_id, position
  FROM authz.tuples WHERE tenant_id = $1`;

/** Reads all tuples of the tenant if no changes are named, or if it has its own model. */
export async function readAffected(
  database: Database,
  source: Source,
  changed: readonly Fields[] | undefined,
): Promise<Affected> {
  const isNear = (types: Types | undefined) => types === undefined && changed !== undefined;
  const { types, rows } = await rowsOfModel(database, source, (types) =>
    isNear(types) ? near(changed ?? []) : EVERY_TUPLE,
  );
  return isNear(types)
    ? affectedNear(rows)
    : affectedOfAll(rows, { types, changed: changed ?? [] });
}

const EVERY_TUPLE: AffectedQuery = {
  text: EVERYTHING,
  select: AFFECTED_ROW,
  order: 'position',
  values: [],
};

function affectedOfAll(
  rows: AffectedRows,
  { types, changed }: { readonly types: Types | undefined; readonly changed: readonly Fields[] },
): Affected {
  const tuples = rows.map(fieldsOf);
  const [principals, objects] = [new Map<string, Node>(), new Map<string, Node>()];
  for (const { user_type, user_id, object_type, object_id } of [...tuples, ...changed]) {
    const object = { type: object_type, id: object_id };
    principals.set(JSON.stringify([user_type, user_id]), { type: user_type, id: user_id });
    principals.set(JSON.stringify([object_type, object_id]), object);
    objects.set(JSON.stringify([object_type, object_id]), object);
  }
  return {
    types,
    tuples,
    principals: [...principals.values()].slice(0, NODES_MAX),
    objects: [...objects.values()].slice(0, NODES_MAX),
    isCut: principals.size > NODES_MAX || objects.size > NODES_MAX,
  };
}

const fieldsOf = ({ kind: _, own_relation, ...row }: AffectedRows[number]): Fields => ({
  ...row,
  relation: relationOf({ relation: row.relation as number, own_relation }),
});

function near(changed: readonly Fields[]): AffectedQuery {
  const subjects = changed.map(({ user_type: type, user_id: id }) => ({ type, id }));
  const objects = changed.map(({ object_type: type, object_id: id }) => ({ type, id }));
  return {
    text: AFFECTED,
    select: AFFECTED_ROW,
    order: 'position, user_type, user_id, object_type, object_id',
    values: [...columnsOf(subjects), ...columnsOf(objects)],
  };
}

function affectedNear(rows: AffectedRows): Affected {
  const principalsFound = rows
    .filter(({ kind }) => kind === 'principal')
    .map(({ user_type: type, user_id: id }) => ({ type, id }));
  const objectsFound = rows
    .filter(({ kind }) => kind === 'object')
    .map(({ object_type: type, object_id: id }) => ({ type, id }));
  return {
    principals: principalsFound.slice(0, NODES_MAX),
    objects: objectsFound.slice(0, NODES_MAX),
    tuples: rows.filter(({ kind }) => kind === 'tuple').map(fieldsOf),
    types: undefined,
    isCut: principalsFound.length > NODES_MAX || objectsFound.length > NODES_MAX,
  };
}

const columnsOf = (nodes: readonly Node[]): readonly (readonly string[])[] => [
  nodes.map(({ type, id }) => nodeKey(type, id)),
  nodes.map(({ type }) => type),
  nodes.map(({ id }) => id),
];
