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
  VersionsByField,
} from '../version-shape.ts';
import { promote } from './promote.ts';

type PromoteDependencies = Pick<ServiceDependencies, 'command'> & {
  readonly catalog: Catalog;
  readonly epochs: Epochs;
};

export const promoteRoute = (vault: PromoteDependencies): Endpoint =>
  endpoint(
    {
      tag: 'Vault',
      name: 'promote_secret_versions',
      machine: 'vault:write',
      repeat: 'safe',
      summary: 'Make pending or previous versions of secrets current, all in one step',
      description:
        'Makes pending or previous versions current, for all named fields in one step, so that no agent gets a new user with an old password. Live grants end. `expected_current` makes it conditional.',
      method: 'post',
      path: '/api/v1/vault/services/{name}/promote',
      who: WRITES,
      access: { class: 'settings', stepUp: 'users' },
      params: ByName,
      body: Type.Object({
        versions: VersionsByField,
        expected_current: Type.Optional(ExpectedCurrentShape),
      }),
      ok: CurrentChangedShape,
      refusals: {
        unknown_field: 400,
        service_not_found: 404,
        version_not_found: 404,
        version_conflict: 409,
        version_destroyed: 409,
      },
      consistency: { waitsFor: ['services'] },
    },
    async (request) => {
      const { body, params, tenantId } = request;
      const { versions, expected_current: expected = {} } = body;
      const command = await vault.command(request);
      const decided = await vault.catalog.decide(params.name, command, (service) =>
        promote({ versions, expected, now: command.now }, service),
      );
      if (decided === undefined) return { refused: 'service_not_found' };
      if (!decided.accepted) {
        if (decided.reason !== 'unknown_field') return { refused: decided.reason };
        return unknownFields(fieldsOf(decided.state), {
          versions: Object.keys(versions),
          expected_current: Object.keys(expected),
        });
      }
      await vault.epochs.changed(tenantId);
      const changed = changedFields(decided.events);
      const fields = Object.entries(versions).map(
        ([field, version]) =>
          changed.find(({ name }) => name === field) ?? { name: field, version, replaced: null },
      );
      return { ok: { service_name: params.name, fields }, wrote: decided.position };
    },
  );
