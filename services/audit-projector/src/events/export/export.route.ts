import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { CSV_COLUMNS, CSV_HEADER, type CsvRow, csvLines } from '../../adapters/csv.ts';
import { recordExport } from '../../exports/record.ts';
import { AUDIT } from '../endpoint-defaults.ts';
import { type Filters, filterQuery, readFilters } from '../event-filters.ts';
import type { UntilLevel } from '../level.ts';
import { EXPORT_MS_MAX, exportLimit } from './export-limit.ts';
import { type Extent, extentOf, type PageRow, pagesOf } from './rows-to-export.ts';

const ROWS_MAX = 10_000;
const RETRY_AFTER_SECONDS = 10;
const COLUMNS = CSV_COLUMNS.map((column) =>
  column === 'timestamp' ? 'ts AS "timestamp"' : column,
);

type Dependencies = ServiceDependencies & { readonly untilLevel: UntilLevel };

export const exportEvents = (needs: Dependencies) => {
  const slots = exportLimit(needs);
  return endpoint(
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
      refusals: { invalid_request: 400, rate_limited: 429 },
    },
    async (request) => {
      const { query, tenantId, appId, signal } = request;
      const filters = readFilters(query, { tenantId, appId });
      if ('rule' in filters) return { refused: 'invalid_request', details: [filters] };
      const release = await slots.take(tenantId);
      if (release === undefined) {
        return {
          refused: 'rate_limited',
          message: 'Two exports of this tenant are running already.',
          headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
        };
      }
      try {
        await needs.untilLevel();
        // Recorded before the first row leaves: an export that breaks off has shown something too.
        const limit = Math.min(query.limit ?? ROWS_MAX, ROWS_MAX);
        const extent = await extentOf(needs, filters, limit);
        const command = await needs.command(request);
        const names = Object.keys(query).sort();
        await recordExport(needs.streams, command, { rows: extent.rows, filters: names });
        return {
          raw: (response) => send(needs, response, { filters, extent, signal }).finally(release),
        };
      } catch (error) {
        await release();
        throw error;
      }
    },
  );
};

type Wanted = {
  readonly filters: Filters;
  readonly extent: Extent;
  readonly signal: AbortSignal;
};

/** What takes too long loses its socket, so that no client takes a file that was cut for a whole one. */
async function send(
  needs: Pick<Dependencies, 'clock' | 'database' | 'log'>,
  response: ServerResponse,
  wanted: Wanted,
): Promise<void> {
  response.setHeader('Content-Type', 'text/csv; charset=utf-8');
  response.setHeader('Content-Disposition', 'attachment; filename="audit-events.csv"');
  const late = new AbortController();
  const cancel = needs.clock.after(EXPORT_MS_MAX, () => late.abort());
  const signal = AbortSignal.any([wanted.signal, late.signal]);
  try {
    await pipeline(Readable.from(csvOf(needs, wanted)), response, { signal });
  } catch (error) {
    if (!late.signal.aborted) throw error;
    needs.log.warn({ rows: wanted.extent.rows }, 'an export took too long and was broken off');
  } finally {
    cancel();
  }
}

async function* csvOf(
  needs: Pick<Dependencies, 'database'>,
  { filters, extent }: Wanted,
): AsyncGenerator<string, void> {
  yield CSV_HEADER;
  yield* pagesOf<Row>(needs, { columns: COLUMNS, filters, extent, print });
}

type Row = Omit<CsvRow, keyof PageRow> & PageRow;

const print = (rows: readonly Row[]): string =>
  csvLines(rows.map((row) => ({ ...row, timestamp: row.timestamp.toISOString() })));
