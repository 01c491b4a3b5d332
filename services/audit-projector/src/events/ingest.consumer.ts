/**
 * Every published event becomes its row in the transaction that also stores how far the topics were
 * read, so that a record brought twice is a row once.
 */
import { SERVICE_NAMES, topicOf } from '@cardea/contracts';
import type { Consumer } from '@cardea/event-bus';
import type { Transaction } from '@cardea/read-models';
import { type AuditRow, rowOf } from './mapping.ts';

/** The consumer's group; its positions stand under this name. */
export const INGEST = 'audit';
export const TOPICS = SERVICE_NAMES.map(topicOf);

const DAY_CHARS = 10;

export function ingest(): Consumer {
  const madeDays = new Set<string>();
  return {
    name: INGEST,
    topics: TOPICS,
    handle: async (events, transaction) => {
      const rows = events.map(rowOf).filter((row) => row !== undefined);
      if (rows.length === 0) return;
      const missing = [...new Set(rows.map(({ ts }) => ts.slice(0, DAY_CHARS)))].filter(
        (day) => !madeDays.has(day),
      );
      for (const day of missing) {
        await transaction.query('SELECT audit.make_partition($1::date)', [day]);
      }
      await insert(transaction, rows);
    },
    // Not before the commit: what a transaction made that failed is not there.
    onCommitted: (events) => {
      for (const { time } of events) seen(madeDays, time.slice(0, DAY_CHARS));
    },
  };
}

const DAYS_REMEMBERED_MAX = 1000;

function seen(days: Set<string>, day: string): void {
  if (days.size >= DAYS_REMEMBERED_MAX) days.clear();
  days.add(day);
}

const INSERT = {
  name: 'audit_insert_events',
  text: `
    INSERT INTO audit.events (
      tenant_id, ts, id, app_id, type, category, action, result, actor_type, actor_id,
      actor_agent_id, target_type, target_id, source_ip, source_user_agent, details, request_id)
    SELECT tenant_id, ts, id, app_id, type, category, action, result, actor_type, actor_id,
      actor_agent_id, target_type, target_id, source_ip, source_user_agent, details, request_id
    FROM jsonb_to_recordset($1::jsonb) AS row(
      tenant_id text, ts timestamptz, id uuid, app_id text, type text, category text, action text,
      result text, actor_type text, actor_id text, actor_agent_id text, target_type text,
      target_id text, source_ip text, source_user_agent text, details jsonb, request_id text)
    ON CONFLICT DO NOTHING`,
};

const insert = (transaction: Transaction, rows: readonly AuditRow[]) =>
  transaction.query(INSERT, [JSON.stringify(rows)]);
