import { endpoint } from '@cardea/http';
import Type from 'typebox';
import { WRITES } from '../../tuples/endpoint-defaults.ts';
import { settle, type WriteDependencies } from '../../tuples/writing.ts';
import type { CurrentModels } from '../current-models.ts';
import { models } from '../model.ts';
import { conditions, modelShape, typesShape } from '../model-shape.ts';
import { refusedModel } from '../refused-model.ts';
import { publish } from './publish.ts';

type Dependencies = Omit<WriteDependencies, 'models'> & {
  readonly models: Pick<CurrentModels, 'changed'>;
};

export const publishModelRoute = (needs: Dependencies) =>
  endpoint(
    {
      ...WRITES,
      who: ['admin'],
      applicationScope: 'roles',
      name: 'publish_model',
      summary: "Replace the tenant's model of relations by the next version",
      method: 'put',
      retry: 'never',
      path: '/api/v1/fga/model',
      body: Type.Object({
        expected_version: Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 }),
        types: typesShape,
        conditions,
      }),
      ok: modelShape,
      refusals: { model_invalid: 422, version_conflict: 409 },
      waitsFor: ['tuples'],
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
