/**
 * Every published event becomes its row in the transaction that also stores how far the topics were
 * read, so that a record brought twice is a row once.
 */
import { SERVICE_NAMES, topicOf } from '@cardea/contracts';
import { batchConsumer, type Consumer } from '@cardea/event-bus';
import type { Statement, Transaction } from '@cardea/read-models';
import { type Logger, metrics } from '@cardea/runtime';
import { notesOfRetention } from '../retention/retention-days.ts';
import { type AuditRow, rowOf } from './mapping.ts';

/** The consumer's group; its positions stand under this name. */
export const INGEST = 'audit';
export const TOPICS = SERVICE_NAMES.map(topicOf);

const DAY_CHARS = 10;

type Dependencies = Required<Pick<Consumer, 'onMoved'>> & { readonly log: Logger };

export function ingest({ onMoved, log }: Dependencies) {
  const madeDays = new Set<string>();
  // Every event has its rule (`mapping.ts`), and one that has none parks its stream.
  return batchConsumer(
    { everyEventOf: TOPICS },
    {
      name: INGEST,
      handle: async (events, transaction) => {
        const rows = events.map(rowOf).filter((row) => row !== undefined);
        const missing = [...new Set(rows.map(({ ts }) => ts.slice(0, DAY_CHARS)))].filter(
          (day) => !madeDays.has(day),
        );
        const makingDays = missing.map((day) => ({ ...MAKE_DAY, values: [day] }));
        if (rows.length > 0) await insert(transaction, { makingDays, rows, log });
      },
      statements: notesOfRetention,
      // Not before the commit: what a transaction made that failed is not there.
      onCommitted: (events) => {
        for (const { time } of events) seen(madeDays, time.slice(0, DAY_CHARS));
      },
      onMoved,
    },
  );
}

const DAYS_REMEMBERED_MAX = 1000;

function seen(days: Set<string>, day: string): void {
  if (days.size >= DAYS_REMEMBERED_MAX) days.clear();
  days.add(day);
}

/** Name and type of each column that a row fills; the first three are the key. */
const KEY = ['tenant_id text', 'ts timestamptz', 'id uuid'];
const CONTENT = [
  'app_id text',
  'type text',
  'category text',
  'action text',
  'result text',
  'actor_type text',
  'actor_id text',
  'actor_agent_id text',
  'target_type text',
  'target_id text',
  'source_ip text',
  'source_user_agent text',
  'details jsonb',
  'request_id text',
];
const namesOf = (columns: readonly string[], prefix = ''): string =>
  columns.map((column) => `${prefix}${column.split(' ')[0]}`).join(', ');
const ROWS = `jsonb_to_recordset($1::jsonb) AS brought(${[...KEY, ...CONTENT].join(', ')})`;

const MAKE_DAY = { name: 'audit_make_partition', text: 'SELECT audit.make_partition($1::date)' };
const INSERT = {
  name: 'audit_insert_events',
  text: `
    INSERT INTO audit.events (${namesOf([...KEY, ...CONTENT])})
    SELECT ${namesOf([...KEY, ...CONTENT])} FROM ${ROWS}
    ON CONFLICT DO NOTHING`,
};
/** Rows whose key is taken by one with another content. */
const UNEQUAL = {
  name: 'audit_unequal_events',
  text: `
    SELECT brought.id FROM ${ROWS} JOIN audit.events AS kept USING (${namesOf(KEY)})
    WHERE (${namesOf(CONTENT, 'kept.')}) IS DISTINCT FROM (${namesOf(CONTENT, 'brought.')})`,
};

/** The first row of an id stands. A second one that says anything else is an alarm: one of them is wrong. */
async function insert(
  transaction: Transaction,
  {
    makingDays,
    rows,
    log,
  }: {
    readonly makingDays: readonly Statement[];
    readonly rows: readonly AuditRow[];
    readonly log: Logger;
  },
): Promise<void> {
  const values = [JSON.stringify(rows)];
  const answers = await transaction.together([...makingDays, { ...INSERT, values }]);
  const rowCount = answers.at(-1)?.rowCount;
  if (rowCount === rows.length) return;
  const unequal = await transaction.query<{ id: string }>(UNEQUAL, values);
  if (unequal.rowCount === 0) return;
  metrics.auditIntegrityAlarms.inc(unequal.rowCount);
  const [first] = unequal.rows;
  log.error(
    { count: unequal.rowCount, id: first?.id },
    'an audit row came a second time with another content; the first one stands',
  );
}
