/** Lists the tenant's applications with their publishable keys. */
import { PAGE_SIZE_DEFAULT, pageAnswer, pageQuery } from '@cardea/contracts';
import { type Endpoint, endpoint } from '@cardea/http';
import { pageOfTenant } from '@cardea/read-models';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { closed } from '../../../http/answers.ts';
import { applicationRows } from '../../tenants/workspaces.projection.ts';
import { ApplicationShape, urisOf } from '../application-shape.ts';
import { redirectWarnings } from '../redirect-uri.ts';

type Dependencies = Pick<ServiceDependencies, 'database'>;

const LISTED = applicationRows.select(
  'id',
  'tenant_id',
  'name',
  'environment',
  'type',
  'publishable_key',
  'redirect_uris',
  'post_logout_redirect_uris',
  'backchannel_logout_uri',
  'backchannel_logout_session_required',
  'allowed_origins',
  'grant_types',
  'scopes',
  'first_party',
  'require_par',
  'require_pkce',
  'branding',
  'jwks',
  'id_token_signed_response_alg',
  'userinfo_signed_response_alg',
  'dpop_bound_access_tokens',
  'claims',
  'roles',
  'machine_scopes',
  'created_at',
);

export const listApplicationsRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      name: 'list_applications',
      machine: 'applications:read',
      access: { class: 'things', applicationScope: 'account' },
      summary: 'List applications',
      description: 'Lists the applications of the tenant, without their secrets.',
      tag: 'Applications',
      method: 'get',
      path: '/api/v1/admin/applications',
      who: ['admin'],
      query: Type.Object(pageQuery),
      ok: closed({
        applications: Type.Array(ApplicationShape),
        ...pageAnswer,
      }),
      refusals: {},
      consistency: { reads: ['workspaces'] },
    },
    async ({ tenantId, query }) => {
      const { offset = 0, limit = PAGE_SIZE_DEFAULT } = query;
      const { rows, total } = await pageOfTenant(needs.database, tenantId, {
        select: LISTED,
        from: 'identity.applications',
        where: 'tenant_id = $1 AND deleted_at IS NULL',
        values: [tenantId],
        order: 'created_at, id',
        offset,
        limit,
      });
      const applications = rows.map((row) => ({
        ...row,
        client_id: row.id,
        warnings: [...redirectWarnings(urisOf(row))],
        created_at: row.created_at.toISOString(),
      }));
      return { ok: { applications, total, offset, limit } };
    },
  );
