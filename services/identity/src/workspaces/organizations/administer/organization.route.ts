/** The organization of the caller's tenant, which its owners can read and change. */
import { named, Time } from '@cardea/contracts';
import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { badField, closed } from '../../../http/answers.ts';
import { filledNameField } from '../../../http/input-fields.ts';
import type { SnapshotCache } from '../../../streams/snapshot-cache.ts';
import { companyName, type Workspaces } from '../../workspaces.ts';
import { type Organization, organizations } from '../organization.ts';
import { changeOrganization } from './change-organization.ts';

type Dependencies = Pick<ServiceDependencies, 'command' | 'streams'> & {
  readonly snapshots: Pick<SnapshotCache, 'load'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
};

const COMMON = {
  tag: 'Administration',
  path: '/api/v1/admin/organization',
  who: ['owner'],
  ok: named(
    'Organization',
    closed({
      id: Type.String(),
      name: Type.String(),
      settings: named('OrganizationSettings', closed({ audit_retention_days: Type.Integer() })),
      created_at: Time,
    }),
  ),
} as const;

export const getOrganizationRoute = (
  needs: Pick<Dependencies, 'snapshots' | 'workspaces'>,
): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'get_organization',
      machine: 'never',
      access: { class: 'things', applicationScope: 'roles' },
      summary: 'My organization',
      description: "Shows the caller's organization and its settings.",
      method: 'get',
      refusals: { not_found: 404 },
    },
    async ({ tenantId }) => {
      const tenant = await needs.workspaces.tenant(tenantId);
      if (tenant === undefined) return { refused: 'not_found' };
      const of = { tenantId: tenant.homeTenantId, id: tenant.organizationId };
      const organization = await needs.snapshots.load(organizations, of);
      if (organization.status === 'none') return { refused: 'not_found' };
      return { ok: answerOf(organization) };
    },
  );

export const updateOrganizationRoute = (
  needs: Pick<Dependencies, 'command' | 'streams' | 'workspaces'>,
): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'update_organization',
      machine: 'never',
      access: { class: 'settings', stepUp: 'users' },
      repeat: 'safe',
      summary: 'Change my organization',
      description:
        'Changes the name of the organization, or for how many days audit events are kept.',
      method: 'patch',
      body: Type.Object(
        {
          name: Type.Optional(filledNameField),
          settings: Type.Optional(
            Type.Object({
              audit_retention_days: Type.Optional(
                Type.Integer({
                  description:
                    'How long audit events are kept. Below 7 it is 7, above 365 it is 365.',
                }),
              ),
            }),
          ),
        },
        { minProperties: 1 },
      ),
      refusals: { invalid_request: 400, not_found: 404 },
      consistency: { waitsFor: ['workspaces'] },
    },
    async (request) => {
      const { body, tenantId } = request;
      const name = body.name === undefined ? undefined : companyName(body.name);
      if (body.name !== undefined && name === undefined) return badField('name');
      const tenant = await needs.workspaces.tenant(tenantId);
      if (tenant === undefined) return { refused: 'not_found' };
      // Events of an organization are recorded under the tenant that was created with it.
      const command = await needs.command(request, { tenantId: tenant.homeTenantId });
      const change = { name, auditRetentionDays: body.settings?.audit_retention_days };
      const decided = await needs.streams.decideOn(
        organizations,
        tenant.organizationId,
        command,
        (organization) => changeOrganization(change, organization),
      );
      if (!decided.accepted || decided.state.status === 'none') return { refused: 'not_found' };
      return { ok: answerOf(decided.state), wrote: decided.position };
    },
  );

const answerOf = (organization: Extract<Organization, { status: 'active' }>) => ({
  id: organization.id,
  name: organization.name,
  settings: { audit_retention_days: organization.auditRetentionDays },
  created_at: organization.createdAt,
});
