/**
 * When identity has deleted a tenant, a service records it in its own log. Its projections then delete the tenant's
 * rows, also when they are rebuilt. After that the service erases the tenant's keys, without which nobody can read the
 * personal data in its log.
 */
import type { Sealer } from '@cardea/crypto';
import { accept, type Stream, type Streams } from '@cardea/event-store';
import type { Statement } from '@cardea/read-models';
import type { ServiceDependencies } from './service.ts';

export type TenantForgotten = {
  readonly type: 'TenantForgotten';
  readonly data: { readonly id: string };
};

export const forgottenTenants: Stream<'known' | 'forgotten', TenantForgotten> = {
  noun: 'tenant',
  initial: 'known',
  evolve: () => 'forgotten',
};

type Dependencies = Pick<ServiceDependencies, 'systemCommand'> & {
  readonly streams: Pick<Streams, 'decideOn'>;
};
/** Identity's event that a tenant was deleted. */
type Deletion = { readonly tenantId: string; readonly id: string };

export async function forgetTenant(
  needs: Dependencies & { readonly sealer: Pick<Sealer, 'eraseTenant'> },
  event: Deletion,
): Promise<void> {
  await noteForgottenTenant(needs, event);
  await needs.sealer.eraseTenant(event.tenantId);
}

/** Records the deletion without erasing keys, for a service that encrypts no personal data. */
export async function noteForgottenTenant(
  { streams, systemCommand }: Dependencies,
  { tenantId, id }: Deletion,
): Promise<void> {
  const command = systemCommand(tenantId, 'forget tenant', id);
  await streams.decideOn(forgottenTenants, tenantId, command, (state) =>
    state === 'forgotten' ? accept() : accept({ type: 'TenantForgotten', data: { id: tenantId } }),
  );
}

/** Deletes the tenants' rows. The `apply` of a projection uses these statements in addition to its own. */
export const tenantRowsDeleted = (
  tenants: readonly { readonly data: { readonly id: string } }[],
  tables: readonly string[],
): readonly Statement[] =>
  tenants.length === 0
    ? []
    : tables.map((table) => ({
        text: `DELETE FROM ${table} WHERE tenant_id = ANY($1)`,
        values: [tenants.map(({ data }) => data.id)],
      }));
