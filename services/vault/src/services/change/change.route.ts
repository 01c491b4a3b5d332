import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import type { SecretStore } from '../../adapters/secret-store.ts';
import { WRITES } from '../../administration.ts';
import type { Epochs } from '../../epochs.ts';
import type { Catalog } from '../catalog.ts';
import { objectionToReveal } from '../revealing.ts';
import { destroyedBy } from '../service.ts';
import {
  ByName,
  changeable,
  DOUBLED_FIELDS,
  Fields,
  hasDoubles,
  LIFETIME_TOO_LONG,
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
      tag: 'Vault',
      name: 'change_service',
      machine: 'vault:write',
      access: { class: 'settings', stepUp: 'users' },
      repeat: 'safe',
      summary: 'Change a service; a field left out of `fields` goes, with all its versions',
      description:
        'Changes a service; what the body does not name stays. `fields`, where it is named, replaces the list: a field that it leaves out is removed, and all versions of its value are destroyed. Only an administrator in person, signed in within the last 5 minutes, may set `reveal`.',
      method: 'patch',
      path: '/api/v1/vault/services/{name}',
      who: WRITES,
      params: ByName,
      body: Type.Object({ ...changeable, fields: Type.Optional(Fields) }),
      ok: ServiceShape,
      refusals: {
        invalid_request: 400,
        step_up_required: 401,
        forbidden: 403,
        service_not_found: 404,
      },
      consistency: { waitsFor: ['services'] },
    },
    async (request) => {
      const { body, params, tenantId } = request;
      if (hasDoubles(body.fields ?? [])) return DOUBLED_FIELDS;
      const command = await vault.command(request);
      const objection = body.reveal && objectionToReveal(request.principal, command.now);
      if (objection) return objection;
      const decided = await vault.catalog.decide(params.name, command, (service) =>
        change(body, service),
      );
      if (decided === undefined) return { refused: 'service_not_found' };
      if (!decided.accepted) {
        return decided.reason === 'invalid_request'
          ? LIFETIME_TOO_LONG
          : { refused: decided.reason };
      }
      if (decided.state.status !== 'registered') return { refused: 'service_not_found' };
      await vault.epochs.changed(tenantId);
      await vault.secrets.erase(tenantId, destroyedBy(decided.events));
      return { ok: shownService(decided.state.record), wrote: decided.position };
    },
  );
