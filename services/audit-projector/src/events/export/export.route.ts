import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { endpoint } from '@cardea/http';
import type { Transaction } from '@cardea/read-models';
import type { ServiceNeeds } from '@cardea/service';
import Type from 'typebox';
import { copyOut } from '../../adapters/copy-out.ts';
import { CSV_COLUMNS, CsvOfCopy } from '../../adapters/csv-of-copy.ts';
import { recordExport } from '../../exports/record.ts';
import { AUDIT } from '../door.ts';
import { type Filters, filterQuery, readFilters, select } from '../event-filters.ts';
import type { UntilLevel } from '../level.ts';

const ROWS_MAX = 10_000;
/** To the millisecond, as the JSON answer gives it. */
const TIMESTAMP = `to_char(ts AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const COLUMNS = CSV_COLUMNS.map((column) => (column === 'timestamp' ? TIMESTAMP : column));

export const exportEvents = (needs: ServiceNeeds & { readonly untilLevel: UntilLevel }) =>
  endpoint(
    {
      ...AUDIT,
      name: 'export_audit_events',
      summary: 'The audit log as a CSV file, at most 10,000 rows',
      method: 'get',
      path: '/api/v1/audit/events.csv',
      query: Type.Object({
        ...filterQuery,
        limit: Type.Optional(Type.Integer({ minimum: 1 })),
      }),
      ok: Type.String(),
      okMediaType: 'text/csv',
      refusals: { invalid_request: 400 },
    },
    async (request) => {
      const { query, tenantId, appId, signal } = request;
      const filters = readFilters(query, { tenantId, appId });
      if ('rule' in filters) return { refused: 'invalid_request', details: [filters] };
      const limit = Math.min(query.limit ?? ROWS_MAX, ROWS_MAX);
      await needs.untilLevel();
      // Recorded before the first row leaves: an export that breaks off has shown something too.
      const rows = await countOf(needs, filters, limit);
      const command = await needs.command(request);
      await recordExport(needs.streams, command, { rows, filters: Object.keys(query).sort() });
      return {
        raw: async (response) => {
          const wanted = select(COLUMNS, filters, { limit });
          await needs.database.asTenant(tenantId, (sql) =>
            stream(sql, { wanted, response, signal }),
          );
        },
      };
    },
  );

async function countOf(
  { database }: Pick<ServiceNeeds, 'database'>,
  filters: Filters,
  limit: number,
): Promise<number> {
  const { text, values } = select(['1'], filters, { limit });
  const { rows } = await database.asTenant(filters.tenantId, (sql) =>
    sql.query<{ n: string }>(`SELECT count(*) AS n FROM (${text}) AS wanted`, values),
  );
  return Number(rows[0]?.n ?? 0);
}

type Streaming = {
  readonly wanted: { readonly text: string; readonly values: readonly unknown[] };
  readonly response: ServerResponse;
  readonly signal: AbortSignal;
};

async function stream(sql: Transaction, { wanted, response, signal }: Streaming): Promise<void> {
  response.setHeader('Content-Type', 'text/csv; charset=utf-8');
  response.setHeader('Content-Disposition', 'attachment; filename="audit-events.csv"');
  await pipeline(copyOut(sql, wanted), new CsvOfCopy(), response, { signal });
}
