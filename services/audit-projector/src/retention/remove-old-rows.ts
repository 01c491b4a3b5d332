/**
 * The daily clean-up. It removes rows that are older than their tenant's retention in chunks, with a database role that
 * may do nothing else. The removed rows are counted in the same transaction and published afterwards, so a crash in
 * between loses no count.
 */
import type { ServiceDependencies } from '@cardea/service';
import { daysBefore, earliestKeptSince, keptSince, PARTITION_DAYS } from './cleanup-time.ts';
import { applyRetention, retentions } from './retention.ts';
import { retentionDaysOf } from './retention-days.ts';

const CHUNK_ROWS_MAX = 10_000;
/** The pause between chunks, in which ingest and readers can run. */
const CHUNK_PAUSE_MS = 100;

export type CleanupDependencies = Pick<
  ServiceDependencies,
  'database' | 'streams' | 'systemCommand' | 'clock' | 'log'
>;
type Turn = { readonly signal: AbortSignal; readonly tick: () => void };

/** Stops early when the signal aborts. Returns whether it finished. */
export async function removeOldRows(
  needs: CleanupDependencies,
  now: Date,
  turn: Turn,
): Promise<boolean> {
  await tellRemoved(needs);
  let tenantId = '';
  while (!turn.signal.aborted) {
    turn.tick();
    const next = await nextTenant(needs, tenantId, earliestKeptSince(now));
    if (next === undefined) {
      await dropPartitions(needs, now, turn);
      return true;
    }
    tenantId = next;
    const days = await retentionDaysOf(needs.database.system, tenantId);
    await removeOfTenant(needs, { tenantId, before: keptSince(now, days) }, turn);
    await tellRemoved(needs);
  }
  return false;
}

const NEXT_TENANT = `
  SELECT tenant_id FROM audit.events WHERE tenant_id > $1 AND ts < $2 ORDER BY tenant_id LIMIT 1`;

async function nextTenant(
  { database }: CleanupDependencies,
  after: string,
  before: Date,
): Promise<string | undefined> {
  const { rows } = await database.system.query<{ tenant_id: string }>(NEXT_TENANT, [after, before]);
  return rows[0]?.tenant_id;
}

type Removal = { readonly tenantId: string; readonly before: Date };

async function removeOfTenant(
  needs: CleanupDependencies,
  removal: Removal,
  turn: Turn,
): Promise<void> {
  while (!turn.signal.aborted) {
    turn.tick();
    const rows = await removeChunk(needs, removal);
    if (rows < CHUNK_ROWS_MAX) return;
    await needs.clock.sleep(CHUNK_PAUSE_MS, turn.signal);
  }
}

/** Finds the last row of the chunk. Returns none if fewer rows remain than a chunk has. */
const CHUNK_END = `
  SELECT ts, id FROM audit.events WHERE tenant_id = $1 AND ts < $2
  ORDER BY ts, id OFFSET $3 LIMIT 1`;
const REMOVE_ALL = 'DELETE FROM audit.events WHERE tenant_id = $1 AND ts < $2';
const COUNT_REMOVED = `
  INSERT INTO audit.removed_rows (tenant_id, before, rows) VALUES ($1, $2, $3)
  ON CONFLICT (tenant_id) DO UPDATE SET rows = removed_rows.rows + excluded.rows`;

function removeChunk(
  { database }: CleanupDependencies,
  { tenantId, before }: Removal,
): Promise<number> {
  return database.asSystem(async (sql) => {
    const taken = await sql.query<{ role: string }>("SELECT current_setting('role') AS role");
    await sql.query('SET LOCAL ROLE audit_reaper');
    const end = await sql.query<{ ts: Date; id: string }>(CHUNK_END, [
      tenantId,
      before,
      CHUNK_ROWS_MAX - 1,
    ]);
    const last = end.rows[0];
    const { rowCount } =
      last === undefined
        ? await sql.query(REMOVE_ALL, [tenantId, before])
        : await sql.query(`${REMOVE_ALL} AND (ts, id) <= ($3, $4)`, [
            tenantId,
            before,
            last.ts,
            last.id,
          ]);
    await sql.query("SELECT set_config('role', $1, true)", [taken.rows[0]?.role]);
    if (rowCount > 0) await sql.query(COUNT_REMOVED, [tenantId, before, rowCount]);
    return rowCount;
  });
}

type Removed = { readonly tenant_id: string; readonly before: Date; readonly rows: string };

/** Publishes how many rows this run removed, even if the run was aborted. */
async function tellRemoved({
  database,
  streams,
  systemCommand,
  log,
}: CleanupDependencies): Promise<void> {
  const { rows } = await database.system.query<Removed>(
    'SELECT tenant_id, before, rows FROM audit.removed_rows',
  );
  for (const removed of rows) {
    const { tenant_id: tenantId } = removed;
    const data = { before: removed.before.toISOString(), rows: Number(removed.rows) };
    const command = systemCommand(tenantId, 'retention', tenantId, data.before);
    await streams.decideOn(retentions, tenantId, command, (last) => applyRetention(data, last));
    await database.system.query(
      'DELETE FROM audit.removed_rows WHERE tenant_id = $1 AND before = $2',
      [tenantId, removed.before],
    );
    log.info({ tenant_id: tenantId, ...data }, 'old rows of the audit log were removed');
  }
}

async function dropPartitions({ database, log }: CleanupDependencies, now: Date, turn: Turn) {
  while (!turn.signal.aborted) {
    turn.tick();
    const { rows } = await database.system.query<{ day: string | null }>(
      'SELECT audit.drop_oldest_partition($1::date)::text AS day',
      [daysBefore(now, PARTITION_DAYS).toISOString().slice(0, 10)],
    );
    const day = rows[0]?.day ?? null;
    if (day === null) return;
    log.info({ day }, 'a partition of the audit log was dropped');
  }
}
