/** Returns the caller, their tenant, and the applications of the organization in that tenant. */
import { named } from '@cardea/contracts';
import { endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { closed } from '../../../http/answers.ts';
import { rankOf } from '../../../ranks/ranks.ts';
import { clientSettings, type Workspaces } from '../../../workspaces/workspaces.module.ts';
import type { UserDirectory } from '../../user-directory.ts';
import { exists } from '../user.ts';

type Dependencies = Pick<ServiceDependencies, 'database'> & {
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'open'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
};

const APPLICATIONS_MAX = 1_000;
const ADMIN_RANK = rankOf(['admin']);

const CurrentUser = named(
  'CurrentUser',
  closed({
    id: Type.String(),
    email: Type.String(),
    display_name: Type.Union([Type.String(), Type.Null()]),
    roles: Type.Array(Type.String()),
  }),
);

export const currentUserRoute = (needs: Dependencies) =>
  endpoint(
    {
      name: 'current_user',
      access: { class: 'things', applicationScope: 'account' },
      summary: 'Who I am',
      description:
        'Shows the caller with their tenant and its applications. Callers without a role above `member` see only the settings that a client needs.',
      tag: 'Authentication',
      method: 'get',
      path: '/api/v1/auth/me',
      who: ['user'],
      tenant: 'optional',
      ok: closed({
        user: CurrentUser,
        tenant: named(
          'CurrentTenant',
          closed({
            id: Type.String(),
            name: Type.String(),
            slug: Type.String(),
            display_name: Type.String(),
            environment: Type.String(),
            settings: Type.Object({}, { additionalProperties: true }),
          }),
        ),
        workspace: named(
          'Workspace',
          closed({
            id: Type.String(),
            applications: Type.Array(
              named(
                'WorkspaceApplication',
                closed({ id: Type.String(), name: Type.String(), environment: Type.String() }),
              ),
            ),
          }),
        ),
      }),
      refusals: { not_found: 404 },
      consistency: { reads: ['workspaces'] },
    },
    async ({ principal }) => {
      const { id, tenantId, roles } = principal;
      const isAdmin = rankOf(roles) >= ADMIN_RANK;
      const [user, tenant] = await Promise.all([
        needs.userDirectory.byId(tenantId, id),
        needs.workspaces.tenant(tenantId),
      ]);
      if (!exists(user) || tenant === undefined) return { refused: 'not_found' };
      const [{ email, displayName }, applications] = await Promise.all([
        needs.userDirectory.open(user),
        applicationsOf(needs, tenantId),
      ]);
      return {
        ok: {
          user: { id, email: email ?? '', display_name: displayName, roles: [...user.roles] },
          tenant: {
            id: tenant.id,
            name: tenant.name,
            slug: tenant.slug,
            display_name: tenant.displayName,
            environment: tenant.environment,
            settings: isAdmin ? tenant.settings : clientSettings(tenant.settings),
          },
          workspace: { id: tenant.organizationId, applications: [...applications] },
        },
      };
    },
  );

async function applicationsOf({ database }: Pick<Dependencies, 'database'>, tenantId: string) {
  const { rows } = await database
    .tenant(tenantId)
    .query<{ id: string; name: string; environment: string }>(
      `SELECT id, name, environment FROM identity.applications
       WHERE tenant_id = $1 AND deleted_at IS NULL ORDER BY created_at, id LIMIT $2`,
      [tenantId, APPLICATIONS_MAX],
    );
  return rows;
}
