/** Lists the applications that a user lets act in their name. */
import { named, Time } from '@cardea/contracts';
import { endpoint } from '@cardea/http';
import type { RowOf } from '@cardea/read-models';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { closed } from '../../http/answers.ts';
import { consentRows } from '../consents.projection.ts';

/** The most consents that the list of one user shows. */
const CONSENTS_MAX = 1_000;

export const ConsentShape = named(
  'OAuthConsent',
  closed({
    id: Type.String(),
    client_id: Type.String(),
    scopes: Type.Array(Type.String()),
    claims: Type.Array(Type.String()),
    granted_at: Time,
  }),
);

export const listConsentsRoute = ({ database }: Pick<ServiceDependencies, 'database'>) =>
  endpoint(
    {
      name: 'list_consents',
      access: { class: 'things', applicationScope: 'account' },
      summary: 'List the applications that I have allowed in',
      description:
        'Lists the applications that the caller has allowed to act for them, and what they may.',
      tag: 'Self-service',
      method: 'get',
      path: '/api/v1/auth/consents',
      who: ['user'],
      tenant: 'optional',
      ok: closed({
        consents: Type.Array(ConsentShape),
      }),
      refusals: {},
      consistency: { reads: ['consents', 'workspaces'] },
    },
    async ({ principal: { id, tenantId } }) => ({
      ok: { consents: await shownConsents(database, { tenantId, userId: id }) },
    }),
  );

const LISTED = consentRows.select('id', 'client_id', 'scopes', 'claims', 'granted_at').of('c');

export async function shownConsents(
  database: Pick<ServiceDependencies['database'], 'tenant'>,
  { tenantId, userId }: { readonly tenantId: string; readonly userId: string },
) {
  const { rows } = await database.tenant(tenantId).query<RowOf<typeof LISTED>>(
    `SELECT ${LISTED.columns} FROM identity.consents c
         LEFT JOIN identity.applications a ON a.id = c.client_id
         WHERE c.tenant_id = $1 AND c.user_id = $2 AND c.revoked_at IS NULL AND a.deleted_at IS NULL
         ORDER BY c.granted_at DESC, c.id LIMIT $3`,
    [tenantId, userId, CONSENTS_MAX],
  );
  return rows.map((row) => ({ ...row, granted_at: row.granted_at.toISOString() }));
}
