/**
 * One page of a list, and the number of rows of the whole list. Two statements in one round trip: a count beside the
 * rows of the page (`count(*) OVER ()`) is lost with them on a page past the end.
 */
import type { Answers, Database, Statement } from '../pool/database.ts';
import type { Selection } from './selection.ts';

export type ListOfRows<Row> = {
  readonly select: Pick<Selection<Row>, 'columns' | 'row'>;
  readonly from: string;
  /** Joins that neither add nor remove rows. They are left out of the count. */
  readonly join?: string;
  readonly where: string;
  /** The values of all placeholders. `where` uses each of them, because the count has the same values. */
  readonly values: readonly unknown[];
  readonly order: string;
  readonly offset: number;
  /** Null means no limit. */
  readonly limit: number | null;
  /** A statement that reads the column `total` where the number is stored. By default the rows are counted. */
  readonly total?: string;
  /** If the statements are prepared once per connection, their name. */
  readonly name?: string;
};

export type PageOfRows<Row> = { readonly rows: readonly Row[]; readonly total: number };

type Total = { readonly total: number | string };

/** A page of rows of one tenant. */
export const pageOfTenant = async <Row extends object>(
  database: Pick<Database, 'asTenantAtOnce'>,
  tenantId: string,
  list: ListOfRows<Row>,
): Promise<PageOfRows<Row>> =>
  pageIn(await database.asTenantAtOnce<[Total, Row]>(tenantId, statementsOf(list)));

/** A page of rows of several tenants. */
export const pageOfTenants = async <Row extends object>(
  database: Pick<Database, 'asSystemAtOnce'>,
  list: ListOfRows<Row>,
): Promise<PageOfRows<Row>> =>
  pageIn(await database.asSystemAtOnce<[Total, Row]>(statementsOf(list)));

const pageIn = <Row extends object>([counted, page]: Answers<[Total, Row]>): PageOfRows<Row> => ({
  rows: page.rows,
  total: Number(counted.rows[0]?.total ?? 0),
});

function statementsOf<Row>({
  select,
  from,
  join = '',
  where,
  values,
  order,
  offset,
  limit,
  total = `SELECT count(*)::integer AS total FROM ${from} WHERE ${where}`,
  name,
}: ListOfRows<Row>): readonly Statement[] {
  const at = values.length;
  return [
    { name: name && `${name}_total`, text: total, values },
    {
      name,
      text: `SELECT ${select.columns} FROM ${from} ${join} WHERE ${where}
       ORDER BY ${order} OFFSET $${at + 1} LIMIT $${at + 2}`,
      values: [...values, offset, limit],
    },
  ];
}
