import { endpoint } from '@cardea/http';
import Type from 'typebox';
import { WRITES } from '../../http/endpoint-defaults.ts';
import { settle, type WriteDependencies } from '../../http/writing.ts';
import type { CurrentModels } from '../current-models.ts';
import { models } from '../model.ts';
import { conditions, MODEL_KEYS_MAX, modelShape, typesShape } from '../model-shape.ts';
import { refusedModel } from '../refused-model.ts';
import { publish } from './publish.ts';

type Dependencies = WriteDependencies & {
  readonly models: Pick<CurrentModels, 'changed'>;
};

export const publishModelRoute = (needs: Dependencies) =>
  endpoint(
    {
      ...WRITES,
      who: ['admin', 'api_key:model:write'],
      name: 'publish_model',
      machine: 'model:write',
      access: { class: 'things', applicationScope: 'roles' },
      summary: "Replace the tenant's model of relations by the next version",
      description:
        'Replaces the whole model of the tenant. `expected_version` is the version that was read, so that two authors do not overwrite each other. Tuples stay; those whose relation the new model does not know grant nothing. Try a model with the dry run first.',
      method: 'put',
      repeat: 'never',
      path: '/api/v1/fga/model',
      input: { keysMax: MODEL_KEYS_MAX },
      body: Type.Object({
        expected_version: Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 }),
        types: typesShape,
        conditions,
      }),
      ok: modelShape,
      refusals: { model_invalid: 422, version_conflict: 409 },
      consistency: { waitsFor: ['tuples'] },
    },
    async (request) => {
      const { tenantId, body } = request;
      const invalid = refusedModel(body);
      if (invalid !== undefined) return invalid;
      const command = await needs.command(request);
      const decided = await needs.streams.decideOn(models, tenantId, command, (model) =>
        publish({ expectedVersion: body.expected_version, types: body.types }, model),
      );
      if (!decided.accepted) return { refused: decided.reason };
      const { position, state } = decided;
      if (position === undefined) throw new Error('a published model has no position');
      needs.models.changed(tenantId);
      await settle(needs, tenantId, position);
      return { ok: state, wrote: position };
    },
  );
