/** Keeps `sessions`; whether one is alive is also its user's to say, whose epoch stands in `users`. */
import { type Projected, type Projection, patch, put } from '@cardea/read-models';
import type { UserEvent } from '../accounts/accounts.module.ts';
import { deviceOf } from '../adapters/device.ts';
import type { SessionEvent, SessionFacts } from './session.ts';

type UserDeleted = Extract<UserEvent, { type: 'UserDeleted' }>;
type Started = Projected<Extract<SessionEvent, { type: 'SessionStarted' }>['data']>;

export const sessionsProjection: Projection = {
  name: 'sessions',
  log: 'identity',
  tables: [
    {
      name: 'sessions',
      key: ['id'],
      columns: {
        id: 'text',
        tenant_id: 'text',
        user_id: 'text',
        user_epoch: 'integer',
        kind: 'text',
        client_id: 'text',
        consent_id: 'text',
        app_id: 'text',
        ip_address: 'text',
        user_agent: 'text',
        browser: 'text',
        browser_version: 'text',
        os: 'text',
        os_version: 'text',
        device_type: 'text',
        started_at: 'timestamptz',
        last_active_at: 'timestamptz',
        expires_at: 'timestamptz',
        revoked_at: 'timestamptz',
      },
    },
  ],
  on: {
    SessionStarted: async ({ data, metadata, streamId }: Started, tools) => {
      const [ip, userAgent] = await Promise.all([
        tools.open(data.ip, { streamId, field: 'ip' }),
        tools.open(data.user_agent, { streamId, field: 'user_agent' }),
      ]);
      const row = {
        id: data.id,
        tenant_id: metadata.tenantId,
        user_id: data.user_id,
        user_epoch: data.user_epoch,
        kind: data.kind,
        client_id: data.client_id,
        consent_id: data.consent_id,
        app_id: data.app_id,
        ip_address: ip,
        user_agent: userAgent,
        ...deviceOf(userAgent),
        started_at: data.started_at,
        last_active_at: data.last_active_at,
        expires_at: data.expires_at,
        revoked_at: data.revoked_at,
      };
      return [{ table: 'sessions', change: put(row) }];
    },
    SessionRefreshed: ({ data }: Projected<SessionFacts>) => [
      {
        table: 'sessions',
        change: patch(
          { id: data.id },
          { last_active_at: data.last_active_at, expires_at: data.expires_at },
        ),
      },
    ],
    SessionRevoked: ({ data }: Projected<SessionFacts>) => [
      { table: 'sessions', change: patch({ id: data.id }, { revoked_at: data.revoked_at }) },
    ],
  },
  // A deleted user's sessions are named by no event of theirs, so they go by the user's id.
  apply: {
    on: ['UserDeleted'],
    run: async (sql, events, { schema }) => {
      const deleted = events.map(({ data }) => (data as UserDeleted['data']).id);
      await sql.query(`DELETE FROM ${schema}.sessions WHERE user_id = ANY($1)`, [deleted]);
    },
  },
};
