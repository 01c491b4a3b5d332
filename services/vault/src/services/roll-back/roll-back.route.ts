import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { WRITES } from '../../administration.ts';
import type { Epochs } from '../../epochs.ts';
import type { Catalog } from '../catalog.ts';
import { ByName, fieldsOf, unknownFields } from '../service-shape.ts';
import {
  CurrentChangedShape,
  changedFields,
  ExpectedCurrentShape,
  FieldNames,
} from '../version-shape.ts';
import { rollBack, withoutPrevious } from './roll-back.ts';

type RollBackDependencies = Pick<ServiceDependencies, 'command'> & {
  readonly catalog: Catalog;
  readonly epochs: Epochs;
};

export const rollBackRoute = (vault: RollBackDependencies): Endpoint =>
  endpoint(
    {
      tag: 'Vault',
      name: 'roll_back_secrets',
      machine: 'vault:write',
      repeat: 'never',
      summary: 'Go back to the versions of secrets that were current before, all in one step',
      description:
        'Makes the versions current that were current before, for all named fields in one step. The version that is replaced becomes pending, so that a second roll back goes one step further. Live grants end.',
      method: 'post',
      path: '/api/v1/vault/services/{name}/rollback',
      who: WRITES,
      access: { class: 'settings', stepUp: 'users' },
      params: ByName,
      body: Type.Object({
        fields: FieldNames,
        expected_current: Type.Optional(ExpectedCurrentShape),
      }),
      ok: CurrentChangedShape,
      refusals: {
        unknown_field: 400,
        service_not_found: 404,
        version_conflict: 409,
        nothing_to_roll_back: 409,
      },
      consistency: { waitsFor: ['services'] },
    },
    async (request) => {
      const { body, params, tenantId } = request;
      const { fields, expected_current: expected = {} } = body;
      const command = await vault.command(request);
      const decided = await vault.catalog.decide(params.name, command, (service) =>
        rollBack({ fields, expected, now: command.now }, service),
      );
      if (decided === undefined) return { refused: 'service_not_found' };
      const { state } = decided;
      if (!decided.accepted) {
        if (decided.reason === 'unknown_field') {
          const request = { fields, expected_current: Object.keys(expected) };
          return unknownFields(fieldsOf(state), request);
        }
        if (decided.reason !== 'nothing_to_roll_back') return { refused: decided.reason };
        const names = state.status === 'registered' ? withoutPrevious(state.record, fields) : [];
        return { refused: decided.reason, details: { fields: names } };
      }
      await vault.epochs.changed(tenantId);
      const ok = { service_name: params.name, fields: changedFields(decided.events) };
      return { ok, wrote: decided.position };
    },
  );
