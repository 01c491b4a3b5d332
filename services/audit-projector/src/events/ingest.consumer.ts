/**
 * Turns every published event into a row. The same transaction stores the offsets of the topics, so a record that
 * arrives twice leads to one row.
 */
import { type IntegrationEvent, SERVICE_NAMES, topicOf } from '@cardea/contracts';
import { batchConsumer, type Consumer } from '@cardea/event-bus';
import type { Database, Statement } from '@cardea/read-models';
import { type GeoIp, type Logger, metrics } from '@cardea/runtime';
import { notesOfRetention } from '../retention/retention-days.ts';
import { type AuditRow, rowOf } from './mapping.ts';

/** The consumer's group id, under which its positions are stored. */
export const INGEST = 'audit';
export const TOPICS = SERVICE_NAMES.map(topicOf);

type Dependencies = Required<Pick<Consumer, 'onMoved'>> & {
  readonly database: Database;
  readonly log: Logger;
  readonly geoIp: GeoIp;
};

export function ingest({ onMoved, database, log, geoIp }: Dependencies) {
  const madeDays = new Set<string>();
  const makingDays = (rows: readonly AuditRow[]): readonly Statement[] => {
    const missing = [...new Set(rows.map(dayOf))].filter((day) => !madeDays.has(day));
    return missing.length === 0 ? [] : [{ ...MAKE_DAYS, values: [missing] }];
  };
  // Every event type has a rule (`mapping.ts`). An event without a rule parks its stream.
  return batchConsumer(
    { name: INGEST, everyEventOf: TOPICS },
    {
      statements: (events) => {
        const rows = rowsOf(events);
        const inserting = rows.length === 0 ? [] : [{ ...INSERT, values: [located(rows, geoIp)] }];
        return [...makingDays(rows), ...notesOfRetention(events), ...inserting];
      },
      // Called only after the commit, because rows of a failed transaction do not exist.
      onCommitted: async (events, answers) => {
        const rows = rowsOf(events);
        for (const row of rows) seen(madeDays, dayOf(row));
        const inserted = rows.length === 0 ? 0 : answers.at(-1)?.rowCount;
        if (inserted !== rows.length) await compare(rows, { database, log });
      },
      onMoved,
    },
  );
}

const rowsOf = (events: readonly IntegrationEvent[]): readonly AuditRow[] =>
  events.map(rowOf).filter((row) => row !== undefined);

/** Adds locations to the rows. A location depends on the current database, so it is not part of the event. */
const located = (rows: readonly AuditRow[], geoIp: GeoIp): string =>
  JSON.stringify(
    rows.map((row) => {
      const place = geoIp.locationOf(row.source_ip);
      if (place === undefined) return row;
      return { ...row, source_geo_city: place.city, source_geo_country: place.country };
    }),
  );

const DAY_CHARS = 10;
const dayOf = ({ ts }: AuditRow): string => ts.slice(0, DAY_CHARS);

const DAYS_REMEMBERED_MAX = 1000;

function seen(days: Set<string>, day: string): void {
  if (days.size >= DAYS_REMEMBERED_MAX) days.clear();
  days.add(day);
}

/** Names and types of the columns that a row fills. The first three are the key. */
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
/** These columns are derived, so they are not compared. */
const PLACE = ['source_geo_city text', 'source_geo_country text'];
const namesOf = (columns: readonly string[], prefix = ''): string =>
  columns.map((column) => `${prefix}${column.split(' ')[0]}`).join(', ');
const ROWS = `jsonb_to_recordset($1::jsonb) AS brought(${[...KEY, ...CONTENT, ...PLACE].join(', ')})`;

const MAKE_DAYS = {
  name: 'audit_make_partitions',
  text: 'SELECT audit.make_partition(day) FROM unnest($1::date[]) AS day',
};
const INSERT = {
  name: 'audit_insert_events',
  text: `
    INSERT INTO audit.events (${namesOf([...KEY, ...CONTENT, ...PLACE])})
    SELECT ${namesOf([...KEY, ...CONTENT, ...PLACE])} FROM ${ROWS}
    ON CONFLICT DO NOTHING`,
};
/** Finds rows whose key exists already with other contents. */
const UNEQUAL = {
  name: 'audit_unequal_events',
  text: `
    SELECT brought.id FROM ${ROWS} JOIN audit.events AS kept USING (${namesOf(KEY)})
    WHERE (${namesOf(CONTENT, 'kept.')}) IS DISTINCT FROM (${namesOf(CONTENT, 'brought.')})`,
};

/** The first row of an id stays. A second one with other contents raises an alarm, because one of the two is wrong. */
async function compare(
  rows: readonly AuditRow[],
  { database, log }: Pick<Dependencies, 'database' | 'log'>,
): Promise<void> {
  try {
    const unequal = await database.system.query<{ id: string }>(UNEQUAL, [JSON.stringify(rows)]);
    if (unequal.rowCount === 0) return;
    metrics.auditIntegrityAlarms.inc(unequal.rowCount);
    const [first] = unequal.rows;
    log.error(
      { count: unequal.rowCount, id: first?.id },
      'an audit row came a second time with another content; the first one stands',
    );
  } catch {
    // The database reports its own outage; the rows are committed already.
    log.error(
      { count: rows.length, id: rows[0]?.id },
      'audit rows that came a second time could not be compared with the first ones',
    );
  }
}
