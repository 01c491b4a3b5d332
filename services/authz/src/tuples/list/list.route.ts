import { pageAnswer, pageQuery } from '@cardea/contracts';
import { endpoint } from '@cardea/http';
import { type Database, type Positions, pageOfTenant } from '@cardea/read-models';
import Type from 'typebox';
import { consistent, READS } from '../../http/endpoint-defaults.ts';
import { objectId, objectType, tupleShape } from '../../http/tuple-shape.ts';
import { shownTuple, TUPLE } from '../stored-tuples.ts';

type Dependencies = {
  readonly database: Database;
  readonly positions: Positions;
  /** The minimum position of the list; undefined while it is unknown. */
  readonly acknowledged: (tenantId: string) => Promise<bigint | undefined>;
};

const WAIT_MS = 2_000;
const TABLE = ['tuples'];

export const listTuples = ({ database, positions, acknowledged }: Dependencies) =>
  endpoint(
    {
      ...READS,
      name: 'list_tuples',
      summary: 'Relationship tuples in the order of their creation',
      description:
        'Lists relationship tuples in the order of their creation, 50 unless `limit` says otherwise (up to 1,000), of all objects, of a type or of one object.',
      method: 'get',
      path: '/api/v1/fga/tuples',
      query: Type.Object({
        ...pageQuery,
        object_type: Type.Optional(objectType),
        object_id: Type.Optional(objectId),
      }),
      ok: Type.Object({ tuples: Type.Array(tupleShape), ...pageAnswer }),
      refusals: { not_caught_up: 503 },
      consistency: { reads: TABLE },
    },
    async ({ query, tenantId }) => {
      const least = await acknowledged(tenantId);
      if (least === undefined || !(await positions.reached(TABLE, least, WAIT_MS))) {
        return { refused: 'not_caught_up' };
      }
      // The position is read before the rows, so that the token never promises more than they show.
      const position = positions.passed('tuples');
      const { offset = 0, limit = 50 } = query;
      const found = await page(database, { ...query, tenantId, offset, limit });
      return { ok: { ...found, offset, limit }, headers: consistent(position) };
    },
  );

type Wanted = {
  readonly tenantId: string;
  readonly object_type?: string;
  readonly object_id?: string;
  readonly offset: number;
  readonly limit: number;
};
async function page(database: Database, wanted: Wanted) {
  const { tenantId, object_type, object_id } = wanted;
  const values: unknown[] = [tenantId];
  let where = 'tenant_id = $1';
  if (object_type !== undefined) where += ` AND object_type = $${values.push(object_type)}`;
  if (object_id !== undefined) where += ` AND object_id = $${values.push(object_id)}`;
  const { rows, total } = await pageOfTenant(database, tenantId, {
    select: TUPLE,
    from: 'authz.tuples',
    where,
    values,
    order: 'position',
    offset: wanted.offset,
    limit: wanted.limit,
    // The number per type is stored. Tuples of one object are few enough to be counted.
    ...(object_id === undefined && {
      total: `SELECT coalesce(sum(n), 0) AS total FROM authz.tuple_counts WHERE ${where}`,
    }),
  });
  return { tuples: rows.map(shownTuple), total };
}
