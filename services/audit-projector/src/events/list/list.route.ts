import { type Cursor, printCursor, readCursor } from '@cardea/contracts';
import { endpoint } from '@cardea/http';
import type { Queryable } from '@cardea/read-models';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { AUDIT } from '../endpoint-defaults.ts';
import {
  type FilterQuery,
  type Filters,
  filterQuery,
  readFilters,
  select,
} from '../event-filters.ts';
import { AuditEvent, COLUMNS, type StoredEvent } from '../event-shape.ts';
import type { UntilLevel } from '../level.ts';

const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 1000;
const OFFSET_MAX = 1_000_000;
const CURSOR_CHARS_MAX = 200;

const textOrNull = Type.Union([Type.String(), Type.Null()]);

export const listEvents = (needs: ServiceDependencies & { readonly untilLevel: UntilLevel }) =>
  endpoint(
    {
      ...AUDIT,
      name: 'list_audit_events',
      summary: 'The audit log, the newest first',
      description:
        'Lists recorded events, newest first, 100 unless `limit` says otherwise (up to 1,000). All filters must fit. Follow long lists with `cursor`: it is empty for the first page, and each answer has `next_cursor`. `X-Service-App-Id` narrows the list to one application.',
      method: 'get',
      path: '/api/v1/audit/events',
      query: Type.Object({
        ...filterQuery,
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMIT_MAX })),
        offset: Type.Optional(Type.Integer({ minimum: 0, maximum: OFFSET_MAX })),
        cursor: Type.Optional(Type.String({ maxLength: CURSOR_CHARS_MAX })),
      }),
      ok: Type.Object({
        events: Type.Array(AuditEvent),
        count: Type.Integer(),
        offset: Type.Optional(Type.Integer()),
        limit: Type.Optional(Type.Integer()),
        next_cursor: Type.Optional(textOrNull),
      }),
      refusals: { invalid_request: 400 },
    },
    async ({ query, tenantId, appId }) => {
      const filters = readFilters(query, { tenantId, appId });
      if ('rule' in filters) return { refused: 'invalid_request', details: [filters] };
      const page = readPage(query);
      if ('rule' in page) return { refused: 'invalid_request', details: [page] };

      if (page.after === undefined && page.offset === 0) await needs.untilLevel();
      const { rows } = await readPageOf(needs.database.tenant(tenantId), { filters, page });
      const events = rows.map((row) => ({ ...row, timestamp: row.timestamp.toISOString() }));
      return {
        ok: {
          events,
          count: events.length,
          ...(isPaged(query) ? { offset: page.offset, limit: page.limit } : {}),
          ...(query.cursor === undefined ? {} : { next_cursor: nextCursor(events, page.limit) }),
        },
      };
    },
  );

/** Filters for which every connection may keep a prepared plan. They are few, because each plan takes memory. */
const KEPT_FILTERS = ['', 'type', 'category'];

/**
 * Reads a page. Planning over a partition per day takes longer than reading a page, so common filters are planned once
 * per connection; partitions are pruned at execution.
 */
async function readPageOf(
  sql: Queryable,
  { filters, page }: { readonly filters: Filters; readonly page: Page },
) {
  const { text, values } = select(COLUMNS, filters, page);
  const isFirst = page.after === undefined && page.offset === 0;
  const isKept = KEPT_FILTERS.includes(Object.keys(filters.equal).join());
  if (!isFirst || !isKept || filters.targetIds !== undefined) {
    return sql.query<StoredEvent>(text, values);
  }
  await sql.query('SET LOCAL plan_cache_mode = force_generic_plan');
  return sql.query<StoredEvent>({ name: `audit_page_${shapeOf(filters)}`, text }, values);
}

const shapeOf = ({ equal, appId, from, to }: Filters): string =>
  [
    ...Object.keys(equal),
    ...(appId === undefined ? [] : ['app']),
    ...(from === undefined ? [] : ['from']),
    ...(to === undefined ? [] : ['to']),
  ].join('_');

type PageQuery = { readonly limit?: number; readonly offset?: number; readonly cursor?: string };
type Page = {
  readonly limit: number;
  readonly offset: number;
  readonly after: Cursor | undefined;
};

function readPage(query: PageQuery): Page | { readonly field: string; readonly rule: string } {
  const { limit = LIMIT_DEFAULT, offset = 0, cursor } = query;
  if (cursor === undefined) return { limit, offset, after: undefined };
  if (query.offset !== undefined) return { field: 'offset', rule: 'not_with_cursor' };
  if (cursor === '') return { limit, offset, after: undefined };
  const after = readCursor(cursor);
  return after === undefined ? { field: 'cursor', rule: 'form' } : { limit, offset, after };
}

/** In its simple form the response has no `offset` and `limit`, according to the contract. */
const isPaged = (query: FilterQuery & PageQuery): boolean =>
  query.from !== undefined ||
  query.to !== undefined ||
  query.category !== undefined ||
  query.offset !== undefined;

const nextCursor = (events: readonly AuditEvent[], limit: number): string | null => {
  const last = events.at(-1);
  if (last === undefined || events.length < limit) return null;
  return printCursor({ ts: last.timestamp, id: last.id });
};
