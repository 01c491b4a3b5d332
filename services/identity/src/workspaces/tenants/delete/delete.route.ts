/** Closes a tenant of the organization. It is deleted 30 days later. */
import { named, Time } from '@cardea/contracts';
import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { closed } from '../../../http/answers.ts';
import type { Workspaces } from '../../workspaces.ts';
import { tenants } from '../tenant.ts';
import { ownTenant, TenantId } from '../tenant-shape.ts';
import { closeTenant } from './delete.ts';

type Dependencies = Pick<ServiceDependencies, 'command' | 'streams'> & {
  readonly workspaces: Pick<Workspaces, 'tenant'>;
};

export const deleteTenantRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      tag: 'Administration',
      who: ['owner'],
      name: 'delete_tenant',
      machine: 'never',
      access: { class: 'settings', stepUp: 'users' },
      repeat: 'safe',
      summary: 'Close a tenant, and delete it after 30 days',
      description:
        'Closes a tenant: from the answer on, none of its sign-ins, tokens and keys is accepted. After 30 days everything that any service holds of it is deleted. Nothing brings a closed tenant back.',
      method: 'delete',
      path: '/api/v1/admin/tenants/{id}',
      params: TenantId,
      ok: named(
        'TenantClosing',
        closed({ status: Type.Literal('tenant closed'), deleted_at: Time }),
      ),
      response: { status: 202 },
      refusals: { not_found: 404, home_tenant: 409 },
      consistency: { waitsFor: ['workspaces', 'revocations'] },
    },
    async (request) => {
      const tenant = await ownTenant(needs, request.tenantId, request.params.id);
      if (tenant === undefined) return { refused: 'not_found' };
      const command = await needs.command(request, { tenantId: tenant.id });
      const decided = await needs.streams.decideOn(tenants, tenant.id, command, (state) =>
        closeTenant(command.now, state),
      );
      if (!decided.accepted) return { refused: decided.reason };
      if (decided.state.status !== 'closed') return { refused: 'not_found' };
      const ok = { status: 'tenant closed' as const, deleted_at: decided.state.shredAt };
      return { ok, wrote: decided.position };
    },
  );
