/** Maintains `sessions`; whether one is live also depends on its user's epoch, which is in `users`. */
import { orNull, projection, table } from '@cardea/read-models';
import type { UserEvent } from '../accounts/accounts.module.ts';
import { deviceOf } from '../adapters/device.ts';
import { forgetUserAndTenantIn, type TenantDeleted } from '../workspaces/workspaces.module.ts';
import type { SessionEvent } from './session.ts';

export const sessionRows = table('sessions', {
  key: ['id'],
  columns: {
    id: 'text',
    tenant_id: 'text',
    user_id: 'text',
    user_epoch: 'integer',
    kind: 'text',
    client_id: orNull('text'),
    consent_id: orNull('text'),
    consent_epoch: orNull('integer'),
    browser_sid: orNull('text'),
    served_clients: 'text[]',
    app_id: orNull('text'),
    ip_address: orNull('text'),
    user_agent: orNull('text'),
    browser: 'text',
    browser_version: 'text',
    os: 'text',
    os_version: 'text',
    device_type: orNull('text'),
    started_at: 'timestamptz',
    last_active_at: 'timestamptz',
    expires_at: 'timestamptz',
    revoked_at: orNull('timestamptz'),
  },
});

export const sessionsProjection = projection<SessionEvent | UserEvent | TenantDeleted>()({
  name: 'sessions',
  log: 'identity',
  tables: [sessionRows],
  on: {
    SessionStarted: async ({ data, metadata, streamId }, tools) => {
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
        consent_epoch: data.consent_epoch,
        browser_sid: data.browser_sid ?? null,
        served_clients: data.served_clients ?? [],
        app_id: data.app_id,
        ip_address: ip,
        user_agent: userAgent,
        ...deviceOf(userAgent),
        started_at: data.started_at,
        last_active_at: data.last_active_at,
        expires_at: data.expires_at,
        revoked_at: data.revoked_at,
      };
      return [sessionRows.put(row)];
    },
    SessionRefreshed: ({ data }) => [
      sessionRows.patch(
        { id: data.id },
        { last_active_at: data.last_active_at, expires_at: data.expires_at },
      ),
    ],
    SessionRevoked: ({ data }) => [
      sessionRows.patch({ id: data.id }, { revoked_at: data.revoked_at }),
    ],
    SessionServed: ({ data: { id, served_clients = [] } }) => [
      sessionRows.patch({ id }, { served_clients }),
    ],
  },
  apply: forgetUserAndTenantIn('sessions'),
});
