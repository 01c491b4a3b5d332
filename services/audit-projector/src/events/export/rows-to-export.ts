/**
 * Reads the rows of an export in pages. Each page is read after the one before was sent, so no connection is occupied
 * while the client reads. Rows that are newer than the first page's query are left out.
 */

import type { Cursor } from '@cardea/contracts';
import type { ServiceDependencies } from '@cardea/service';
import { type Filters, select } from '../event-filters.ts';

/**
 * Rows per page. A page of the largest rows has 400 KiB, and some copies of it are in memory while the client does not
 * read.
 */
const PAGE_ROWS_MAX = 200;

/** The number of rows, and the newest one, at the time of the request. */
export type Extent = { readonly rows: number; readonly newest: Date | null };

type Dependencies = Pick<ServiceDependencies, 'database'>;

export async function extentOf(
  { database }: Dependencies,
  filters: Filters,
  limit: number,
): Promise<Extent> {
  const { text, values } = select(['ts'], filters, { limit });
  const { rows } = await database
    .tenant(filters.tenantId)
    .query<Extent>(
      `SELECT count(*)::integer AS rows, max(ts) AS newest FROM (${text}) AS wanted`,
      values,
    );
  return rows[0] ?? { rows: 0, newest: null };
}

export type PageRow = { readonly id: string; readonly timestamp: Date };

type Wanted<Row> = {
  /** The columns must include `id` and `timestamp`. */
  readonly columns: readonly string[];
  readonly filters: Filters;
  readonly extent: Extent;
  /** Formats a page as text. The text is kept while the client reads it; the rows are not. */
  readonly print: (rows: readonly Row[]) => string;
};

export async function* pagesOf<Row extends PageRow>(
  needs: Dependencies,
  wanted: Wanted<Row>,
): AsyncGenerator<string, void> {
  let from: From = { to: wanted.extent.newest, left: wanted.extent.rows, after: undefined };
  while (from.left > 0 && from.to !== null) {
    const page = await readPage(needs, wanted, from);
    if (page === undefined) return;
    yield page.text;
    from = page.next;
  }
}

type From = {
  /** Limits the partitions that are read, which the cursor alone would not do. */
  readonly to: Date | null;
  readonly left: number;
  readonly after: Cursor | undefined;
};

async function readPage<Row extends PageRow>(
  { database }: Dependencies,
  { columns, filters, print }: Wanted<Row>,
  { to, left, after }: From,
): Promise<{ readonly text: string; readonly next: From } | undefined> {
  const limit = Math.min(PAGE_ROWS_MAX, left);
  const { text, values } = select(columns, { ...filters, to: to ?? undefined }, { limit, after });
  const { rows } = await database.tenant(filters.tenantId).query<Row>(text, values);
  const last = rows.at(-1);
  if (last === undefined) return undefined;
  const cursor = { ts: last.timestamp.toISOString(), id: last.id };
  return {
    text: print(rows),
    next: { to: last.timestamp, left: left - rows.length, after: cursor },
  };
}
