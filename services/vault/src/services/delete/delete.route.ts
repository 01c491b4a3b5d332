import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import type { SecretStore } from '../../adapters/secret-store.ts';
import { WRITES } from '../../administration.ts';
import type { Epochs } from '../../epochs.ts';
import type { Catalog } from '../catalog.ts';
import { ByName } from '../service-shape.ts';
import { deleteService } from './delete.ts';

type DeleteDependencies = Pick<ServiceDependencies, 'command'> & {
  readonly catalog: Catalog;
  readonly epochs: Epochs;
  readonly secrets: SecretStore;
};

export const deleteServiceRoute = (vault: DeleteDependencies): Endpoint =>
  endpoint(
    {
      tag: 'Vault',
      name: 'delete_service',
      machine: 'vault:write',
      access: { class: 'settings', stepUp: 'users' },
      repeat: 'safe',
      summary: 'Delete a service: its grants end, its secrets are destroyed, its name is free',
      description:
        'Deletes a service. Its grants end, its values are destroyed for good, and its name is free.',
      method: 'delete',
      path: '/api/v1/vault/services/{name}',
      who: WRITES,
      params: ByName,
      ok: Type.Object({ status: Type.Literal('service deleted') }),
      refusals: { service_not_found: 404 },
      consistency: { waitsFor: ['services'] },
    },
    async (request) => {
      const { params, tenantId } = request;
      const command = await vault.command(request);
      const decided = await vault.catalog.decide(params.name, command, deleteService);
      if (decided === undefined || !decided.accepted || decided.state.status !== 'deleted') {
        return { refused: 'service_not_found' };
      }
      const { id, name } = decided.state;
      await vault.epochs.changed(tenantId);
      // A policy repeats this after a crash. Here it is done before the response.
      await vault.secrets.eraseOwner({ tenantId, ownerId: id });
      await vault.catalog.release(name, id, command);
      return { ok: { status: 'service deleted' as const }, wrote: decided.position };
    },
  );
