/** Maintains `consents`, which a user's list reads. */
import { orNull, projection, table } from '@cardea/read-models';
import type { UserEvent } from '../accounts/accounts.module.ts';
import { forgetUserAndTenantIn, type TenantDeleted } from '../workspaces/workspaces.module.ts';
import { type ConsentEvent, shownGrant } from './consent.ts';

export const consentRows = table('consents', {
  key: ['id'],
  columns: {
    id: 'text',
    tenant_id: 'text',
    user_id: 'text',
    client_id: 'text',
    scopes: 'text[]',
    resources: 'text[]',
    claims: 'text[]',
    epoch: 'integer',
    granted_at: 'timestamptz',
    revoked_at: orNull('timestamptz'),
  },
});

const namesOf = ({ claims = [] }: Pick<Granted, 'claims'>): string[] =>
  claims.map(({ name }) => name);

type Granted = Extract<ConsentEvent, { type: 'ConsentGranted' }>['data'];
type UserDeleted = Extract<UserEvent, { type: 'UserDeleted' }>;

export const consentsProjection = projection<ConsentEvent | UserDeleted | TenantDeleted>()({
  name: 'consents',
  log: 'identity',
  tables: [consentRows],
  on: {
    ConsentGranted: ({ data, metadata }) => [
      consentRows.put({
        id: data.id,
        tenant_id: metadata.tenantId,
        user_id: data.user_id,
        client_id: data.client_id,
        ...shownGrant(data.granted),
        claims: namesOf(data),
        epoch: data.epoch,
        granted_at: data.at,
        revoked_at: null,
      }),
    ],
    ConsentExtended: ({ data }) => [
      consentRows.patch({ id: data.id }, { ...shownGrant(data.granted), claims: namesOf(data) }),
    ],
    ConsentRevoked: ({ data }) => [consentRows.patch({ id: data.id }, { revoked_at: data.at })],
  },
  apply: forgetUserAndTenantIn('consents'),
});
