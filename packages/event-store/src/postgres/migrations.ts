import { readFileSync } from 'node:fs';
import { migration as events } from '../../migrations/0001-events.ts';
import { migration as appendOne } from '../../migrations/0002-append-one.ts';
import { migration as appendOnBasis } from '../../migrations/0003-append-on-basis.ts';
import { migration as appendOnBasisQuickly } from '../../migrations/0004-append-on-basis-quickly.ts';
import { migration as ownLogs } from '../../migrations/0010-own-logs.ts';
import { migration as ownLogsQuickly } from '../../migrations/0011-own-logs-quickly.ts';
import { migration as noticesByLog } from '../../migrations/0012-notices-by-log.ts';
import { migration as endsOfLogs } from '../../migrations/0013-ends-of-logs.ts';

/**
 * The migrations of schema `eventstore`, each with the text of its file, which must not change after it was applied.
 */
export const eventStoreMigrations: readonly {
  readonly name: string;
  readonly source: string;
  readonly up: (knex: { raw(sql: string): PromiseLike<unknown> }) => Promise<void>;
}[] = [
  { name: '0001-events', source: sourceOf('0001-events'), ...events },
  { name: '0002-append-one', source: sourceOf('0002-append-one'), ...appendOne },
  {
    name: '0003-append-on-basis',
    source: sourceOf('0003-append-on-basis'),
    ...appendOnBasis,
  },
  {
    name: '0004-append-on-basis-quickly',
    source: sourceOf('0004-append-on-basis-quickly'),
    ...appendOnBasisQuickly,
  },
  { name: '0010-own-logs', source: sourceOf('0010-own-logs'), ...ownLogs },
  {
    name: '0011-own-logs-quickly',
    source: sourceOf('0011-own-logs-quickly'),
    ...ownLogsQuickly,
  },
  { name: '0012-notices-by-log', source: sourceOf('0012-notices-by-log'), ...noticesByLog },
  { name: '0013-ends-of-logs', source: sourceOf('0013-ends-of-logs'), ...endsOfLogs },
];

function sourceOf(name: string): string {
  return readFileSync(new URL(`../../migrations/${name}.ts`, import.meta.url), 'utf8');
}
