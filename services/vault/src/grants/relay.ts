/** Publishes public fields of grants' events and of refused vends, never a value. */
import type { vaultEvents } from '@cardea/contracts';
import { relay } from '@cardea/event-bus';
import { ignored } from '@cardea/event-store';
import type { TenantForgotten } from '@cardea/service';
import type { CurrentGrant, GrantKeyEvent } from './grant-key.ts';
import type { VendRefused } from './refusals.ts';

export const grantsRelay = relay<GrantKeyEvent | VendRefused | TenantForgotten, typeof vaultEvents>(
  {
    CredentialGranted: ({ data }) => ({
      type: 'vault.credential.granted',
      data: {
        ...grantOf(data),
        credential_type: data.credential_type,
        approval_id: data.approval_id,
        granted_at: data.granted_at,
        expires_at: data.expires_at,
      },
    }),
    CredentialReused: ({ data }) => ({
      type: 'vault.credential.reused',
      data: {
        ...grantOf(data),
        grant_id: data.reused_grant_id,
        // The grant key may have a newer grant by now, which was issued on another approval.
        approval_id: data.reused_grant_id === data.grant_id ? data.approval_id : null,
        count: data.count,
      },
    }),
    GrantRevoked: ({ data }) => ({
      type: 'vault.credential.revoked',
      data: {
        ...grantOf(data),
        grant_id: data.revoked_grant_id,
        cause: data.cause,
        revoked_at: data.ended_at,
      },
    }),
    TenantForgotten: ignored('identity has published it'),
    VendRefused: ({ data: { fields, ...data } }) => ({
      type: 'vault.credential.refused',
      data: { ...data, fields: fields === null ? null : [...fields] },
    }),
  },
);

/** All grants of a grant key have the same session, service and field names. */
const grantOf = ({
  grant_id,
  session_id,
  agent_id,
  user_id,
  service_name,
  fields,
}: CurrentGrant) => ({
  grant_id,
  session_id,
  agent_id,
  user_id,
  service_name,
  fields: fields.map(({ name }) => name),
});
