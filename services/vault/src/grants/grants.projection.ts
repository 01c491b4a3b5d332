/** Maintains `grants`: what was handed out, to whom, on what basis, and how it ended. */
import type { Recorded } from '@cardea/event-store';
import { jsonOf, orNull, projection, table } from '@cardea/read-models';
import { type TenantForgotten, tenantRowsDeleted } from '@cardea/service';
import type { GrantKeyEvent } from './grant-key.ts';

const SLOT = 'slot-';

export const grantRows = table('grants', {
  key: ['tenant_id', 'grant_id'],
  columns: {
    tenant_id: 'text',
    grant_id: 'text',
    slot: 'text',
    session_id: 'text',
    agent_id: 'text',
    user_id: orNull('text'),
    service_id: 'text',
    service_name: 'text',
    credential_type: 'text',
    fields: 'text[]',
    policies: jsonOf<readonly { readonly id: string; readonly version: number }[]>(),
    approval_id: orNull('text'),
    capability_jti: 'text',
    granted_at: 'timestamptz',
    expires_at: 'timestamptz',
    superseded_at: orNull('timestamptz'),
    revoked_at: orNull('timestamptz'),
    cause: orNull('text'),
  },
});

/** After the commit, `onRevoked` is called for each tenant with a revoked grant. */
export const grantsProjection = (onRevoked: (tenantId: string) => void) =>
  projection<GrantKeyEvent | TenantForgotten>()({
    name: 'grants',
    log: 'vault',
    tables: [grantRows],
    on: {
      CredentialGranted: ({ data, metadata, streamId }) => {
        const { tenantId: tenant_id } = metadata;
        const slot = streamId.slice(SLOT.length);
        const made = grantRows.put({ tenant_id, slot, ...row(data) });
        if (data.supersedes === null) return [made];
        const before = { tenant_id, grant_id: data.supersedes };
        return [grantRows.patch(before, { superseded_at: data.granted_at }), made];
      },
      GrantRevoked: ({ data, metadata }) => [
        grantRows.patch(
          { tenant_id: metadata.tenantId, grant_id: data.revoked_grant_id },
          { revoked_at: data.ended_at, cause: data.cause },
        ),
      ],
    },
    apply: {
      on: ['TenantForgotten'],
      statements: (events, { schema }) => tenantRowsDeleted(events, [`${schema}.grants`]),
    },
    onCommitted: (events) => {
      const revoked = events.filter(({ type }) => type === 'GrantRevoked');
      for (const tenantId of new Set(revoked.map(({ metadata }) => metadata.tenantId))) {
        onRevoked(tenantId);
      }
    },
  });

const row = (data: Recorded<GrantKeyEvent, 'CredentialGranted'>['data']) => ({
  grant_id: data.grant_id,
  session_id: data.session_id,
  agent_id: data.agent_id,
  user_id: data.user_id,
  service_id: data.service_id,
  service_name: data.service_name,
  credential_type: data.credential_type,
  fields: data.fields.map(({ name }) => name),
  policies: data.policies,
  approval_id: data.approval_id,
  capability_jti: data.cap_jti,
  granted_at: data.granted_at,
  expires_at: data.expires_at,
  superseded_at: null,
  revoked_at: null,
  cause: null,
});
