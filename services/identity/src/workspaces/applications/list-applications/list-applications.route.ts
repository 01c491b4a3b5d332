/** Lists the tenant's applications with their publishable keys. */
import { PAGE_SIZE_DEFAULT, pageAnswer, pageQuery } from '@cardea/contracts';
import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type, { type Static } from 'typebox';
import { closed } from '../../../http/answers.ts';
import { ApplicationShape, urisOf } from '../application-shape.ts';
import { redirectWarnings } from '../redirect-uri.ts';

type Dependencies = Pick<ServiceDependencies, 'database'>;

type Row = Omit<Static<typeof ApplicationShape>, 'client_id' | 'created_at' | 'warnings'> & {
  readonly created_at: Date;
};

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
      const { rows, total } = await needs.database.asTenant(tenantId, async (sql) => {
        const counted = await sql.query<{ total: number }>(
          `SELECT count(*)::integer AS total FROM identity.applications
           WHERE tenant_id = $1 AND deleted_at IS NULL`,
          [tenantId],
        );
        const page = await sql.query<Row>(
          `SELECT id, tenant_id, name, environment, type, publishable_key, redirect_uris,
             post_logout_redirect_uris, backchannel_logout_uri, backchannel_logout_session_required,
             allowed_origins, grant_types, scopes, first_party, require_par, require_pkce, branding,
             jwks,
             id_token_signed_response_alg, userinfo_signed_response_alg,
             dpop_bound_access_tokens, claims, roles, machine_scopes, created_at FROM identity.applications
           WHERE tenant_id = $1 AND deleted_at IS NULL
           ORDER BY created_at, id OFFSET $2 LIMIT $3`,
          [tenantId, offset, limit],
        );
        return { rows: page.rows, total: counted.rows[0]?.total ?? 0 };
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
