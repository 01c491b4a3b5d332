/** The subject of all benches of backups: a database of many events, and the settings of `cardea` for it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programOf } from '@cardea/testing';
import { Client } from 'pg';
import type { BenchContext } from '../harness.ts';
import { fillLog } from './relay-log.ts';

export const CARDEA = programOf(
  new URL('../../../../services/standalone/src/cardea.ts', import.meta.url),
);
const EVENTS = 1_000_000;
const EVENTS_SMOKE = 2_000;
/** The number of events that are written one by one, as authz does. The others are copies of them under other ids. */
const WRITTEN = 20_000;
const SECRETS = {
  JWT_SECRET: 'of-the-benchmark-and-long-enough-for-it',
  ENCRYPTION_KEY: '0123456789abcdef'.repeat(4),
  POSTGRES_PASSWORD: 'of-the-benchmark',
  ADMIN_EMAIL: 'admin@cardea.local',
  ADMIN_PASSWORD: 'of-the-benchmark',
};

export const eventsOf = ({ smoke }: BenchContext): number => (smoke ? EVENTS_SMOKE : EVENTS);

/** Creates a data folder with secrets and room for backups. */
export function dataFolder({ onEnd }: BenchContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'cardea-bench-backup-'));
  onEnd(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'secrets.json'), JSON.stringify(SECRETS));
  return folder;
}

export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return await work(client).finally(() => client.end());
}

export async function fill(url: string, events: number): Promise<void> {
  const written = Math.min(WRITTEN, events);
  await fillLog(url, written);
  await withClient(url, async (client) => {
    for (let copies = written; copies < events; copies += written) {
      await client.query(COPY_EVENTS, [copies, events - copies]);
    }
    await client.query(STREAMS);
    await client.query('VACUUM ANALYZE eventstore.events, eventstore.streams');
  });
}

const COPY_EVENTS = `
  INSERT INTO eventstore.events
    (log, position, stream_id, revision, event_id, type, schema_version, time, data, metadata)
  SELECT log, position + $1, 'tuple-' || encode(sha256(id::text::bytea), 'hex'), revision, id, type,
         schema_version, time,
         data || jsonb_build_object('tuple_id', id, 'object_id', id),
         metadata || jsonb_build_object('requestId', gen_random_uuid())
    FROM (SELECT *, gen_random_uuid() AS id FROM eventstore.events
           ORDER BY log, position LIMIT least($2, ${WRITTEN})) AS original`;
const STREAMS = `
  INSERT INTO eventstore.streams (log, stream_id, previous, revision)
  SELECT log, stream_id, 0, 1 FROM eventstore.events ON CONFLICT DO NOTHING`;
