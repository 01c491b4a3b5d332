import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import type { SecretStore } from '../../adapters/secret-store.ts';
import { ADMIN, WRITES } from '../../administration.ts';
import type { Epochs } from '../../epochs.ts';
import type { Catalog } from '../catalog.ts';
import {
  ByName,
  changeable,
  Fields,
  hasDoubles,
  ServiceShape,
  shownService,
} from '../service-shape.ts';
import { change } from './change.ts';

type ChangeDependencies = Pick<ServiceDependencies, 'command'> & {
  readonly catalog: Catalog;
  readonly epochs: Epochs;
  readonly secrets: SecretStore;
};

export const changeServiceRoute = (vault: ChangeDependencies): Endpoint =>
  endpoint(
    {
      ...ADMIN,
      name: 'change_service',
      clientName: 'update_service',
      retry: 'safe',
      summary: 'Change a service; a field left out of `fields` goes, with all its versions',
      method: 'patch',
      path: '/api/v1/vault/services/{name}',
      who: WRITES,
      applicationScope: 'roles',
      params: ByName,
      body: Type.Object({ ...changeable, fields: Type.Optional(Fields) }),
      ok: ServiceShape,
      refusals: { invalid_request: 400, service_not_found: 404 },
      waitsFor: ['services'],
    },
    async (request) => {
      const { body, params, tenantId } = request;
      if (hasDoubles(body.fields ?? [])) return { refused: 'invalid_request' };
      const command = await vault.command(request);
      const decided = await vault.catalog.decide(params.name, command, (service) =>
        change(body, service),
      );
      if (decided === undefined) return { refused: 'service_not_found' };
      if (!decided.accepted) return { refused: decided.reason };
      if (decided.state.status !== 'registered') return { refused: 'service_not_found' };
      await vault.epochs.changed(tenantId);
      const destroyed = decided.events.flatMap((event) =>
        event.type === 'SecretVersionDestroyed' ? [event.data.secret_id] : [],
      );
      await vault.secrets.erase(tenantId, destroyed);
      return { ok: shownService(decided.state.record), wrote: decided.position };
    },
  );
