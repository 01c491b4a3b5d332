import { type Endpoint, endpoint } from '@cardea/http';
import { failpoint } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import type { SecretStore } from '../../adapters/secret-store.ts';
import { WRITES } from '../../administration.ts';
import type { Epochs } from '../../epochs.ts';
import type { Catalog } from '../catalog.ts';
import { destroyedBy } from '../service.ts';
import { ByVersion, versionNumber } from '../version-shape.ts';
import { destroyVersion } from './destroy-version.ts';

type DestroyDependencies = Pick<ServiceDependencies, 'command'> & {
  readonly catalog: Catalog;
  readonly epochs: Epochs;
  readonly secrets: SecretStore;
};

export const destroyVersionRoute = (vault: DestroyDependencies): Endpoint =>
  endpoint(
    {
      tag: 'Vault',
      name: 'destroy_secret_version',
      machine: 'vault:write',
      repeat: 'safe',
      summary: 'Destroy a version of a secret that is not current; its value is gone for good',
      description:
        'Destroys the value of a version that is not current, for good. Its number is never used again while the field exists. Destroying a destroyed version is answered in the same way.',
      method: 'delete',
      path: '/api/v1/vault/services/{name}/secrets/{field}/versions/{version}',
      who: WRITES,
      access: { class: 'settings', stepUp: 'users' },
      params: ByVersion,
      ok: Type.Object({ status: Type.Literal('destroyed') }),
      refusals: {
        service_not_found: 404,
        unknown_field: 404,
        version_not_found: 404,
        version_in_use: 409,
      },
      consistency: { waitsFor: ['services'] },
    },
    async (request) => {
      const { params, tenantId } = request;
      const { name, field } = params;
      const version = versionNumber(params.version);
      if (version === undefined) return { refused: 'version_not_found' };
      const command = await vault.command(request);
      const decided = await vault.catalog.decide(name, command, (service) =>
        destroyVersion({ field, version }, service),
      );
      if (decided === undefined) return { refused: 'service_not_found' };
      if (!decided.accepted) return { refused: decided.reason };
      await vault.epochs.changed(tenantId);
      await failpoint('destroy.before_erase');
      await vault.secrets.erase(tenantId, destroyedBy(decided.events));
      return { ok: { status: 'destroyed' as const }, wrote: decided.position };
    },
  );
