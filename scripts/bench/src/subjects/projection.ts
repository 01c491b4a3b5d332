/** The projection that B3 and B2r measure: a table of sessions, a row per event. */
import type { Log } from '@cardea/event-store';
import { type NamedMigration, projection, protectTable, table } from '@cardea/read-models';

export const LOG: Log = 'identity';
export const SCHEMA = 'bench_sessions';
export const TABLE = `${SCHEMA}.sessions`;

export const sessionsMigration: NamedMigration = {
  name: '0001-sessions',
  up: async (knex) => {
    await knex.raw(`
      CREATE TABLE ${TABLE} (
        id text PRIMARY KEY, tenant_id uuid NOT NULL, user_id uuid NOT NULL,
        ip_class text NOT NULL, started_at timestamptz NOT NULL
      );
      CREATE TABLE ${TABLE}_copied (LIKE ${TABLE} INCLUDING ALL)`);
    await protectTable(knex, TABLE);
  },
};

type SessionStarted = {
  readonly type: 'SessionStarted';
  readonly data: { readonly user_id: string; readonly ip_class: string };
};

const sessions = table('sessions', {
  key: ['id'],
  columns: {
    id: 'text',
    tenant_id: 'uuid',
    user_id: 'uuid',
    ip_class: 'text',
    started_at: 'timestamptz',
  },
});

export const sessionsProjection = projection<SessionStarted>()({
  name: 'sessions',
  log: LOG,
  tables: [sessions],
  on: {
    SessionStarted: ({ streamId, metadata, time, data }) => [
      sessions.put({
        id: streamId,
        tenant_id: metadata.tenantId,
        user_id: data.user_id,
        ip_class: data.ip_class,
        started_at: time,
      }),
    ],
  },
});
