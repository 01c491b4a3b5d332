import type { ServerResponse } from 'node:http';
import { endpoint, type Request } from '@cardea/http';
import { answerExport, exportLimit, type ServiceDependencies, sendExport } from '@cardea/service';
import Type from 'typebox';
import { CSV_COLUMNS, CSV_HEADER, type CsvRow, csvLines } from '../../adapters/csv.ts';
import { recordExport } from '../../exports/record.ts';
import { AUDIT } from '../endpoint-defaults.ts';
import { type Filters, filterQuery, readFilters } from '../event-filters.ts';
import type { UntilLevel } from '../level.ts';
import { type Extent, extentOf, type PageRow, pagesOf } from './rows-to-export.ts';

const ROWS_MAX = 10_000;
const COLUMNS = CSV_COLUMNS.map((column) =>
  column === 'timestamp' ? 'ts AS "timestamp"' : column,
);

type Dependencies = ServiceDependencies & { readonly untilLevel: UntilLevel };

export const exportEvents = (needs: Dependencies) => {
  const slots = exportLimit({ ...needs, family: 'audit-export' });
  return endpoint(
    {
      ...AUDIT,
      name: 'export_audit_events',
      summary: 'The audit log as a CSV file, at most 10,000 rows',
      description:
        'Writes recorded events as a CSV file, newest first, at most 10,000 rows. The export itself is recorded before the first row leaves. A tenant may run two exports at once. An export that takes longer than five minutes is broken off: the connection closes early.',
      method: 'get',
      path: '/api/v1/audit/events.csv',
      query: Type.Object({
        ...filterQuery,
        limit: Type.Optional(Type.Integer({ minimum: 1 })),
      }),
      ok: Type.String(),
      response: { mediaType: 'text/csv' },
      refusals: { invalid_request: 400, rate_limited: 429 },
    },
    async (request) => {
      const { query, tenantId, appId } = request;
      const filters = readFilters(query, { tenantId, appId });
      if ('rule' in filters) return { refused: 'invalid_request', details: [filters] };
      return answerExport(slots, tenantId, async () => {
        await needs.untilLevel();
        // The export is recorded before the first row is sent, because an interrupted export has disclosed data too.
        const limit = Math.min(query.limit ?? ROWS_MAX, ROWS_MAX);
        const extent = await extentOf(needs, filters, limit);
        const command = await needs.command(request);
        const names = Object.keys(query).sort();
        await recordExport(needs.streams, command, { rows: extent.rows, filters: names });
        return (response) => send(needs, response, { filters, extent, request });
      });
    },
  );
};

type Wanted = {
  readonly filters: Filters;
  readonly extent: Extent;
  readonly request: Pick<Request<unknown, unknown, unknown>, 'signal' | 'nextPart'>;
};

function send(
  needs: Pick<Dependencies, 'clock' | 'database' | 'log'>,
  response: ServerResponse,
  wanted: Wanted,
): Promise<void> {
  response.setHeader('Content-Type', 'text/csv; charset=utf-8');
  response.setHeader('Content-Disposition', 'attachment; filename="audit-events.csv"');
  const fields = { rows: wanted.extent.rows };
  return sendExport(needs, response, {
    text: csvOf(needs, wanted),
    request: wanted.request,
    brokenOff: { fields, message: 'an export took too long and was broken off' },
  });
}

async function* csvOf(
  needs: Pick<Dependencies, 'database'>,
  { filters, extent }: Wanted,
): AsyncGenerator<string, void> {
  yield CSV_HEADER;
  yield* pagesOf<CsvEvent>(needs, { columns: COLUMNS, filters, extent, print });
}

type CsvEvent = Omit<CsvRow, keyof PageRow> & PageRow;

const print = (rows: readonly CsvEvent[]): string =>
  csvLines(rows.map((row) => ({ ...row, timestamp: row.timestamp.toISOString() })));
