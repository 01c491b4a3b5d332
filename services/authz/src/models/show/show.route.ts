import type { Streams } from '@cardea/event-store';
import { endpoint } from '@cardea/http';
import { READS } from '../../http/endpoint-defaults.ts';
import { models } from '../model.ts';
import { modelShape } from '../model-shape.ts';

export const showModelRoute = ({ streams }: { readonly streams: Streams }) =>
  endpoint(
    {
      ...READS,
      who: ['admin', 'api_key:model:read'],
      name: 'show_model',
      machine: 'model:read',
      access: { class: 'things', applicationScope: 'roles' },
      summary: "The tenant's model of relations; version 0 is the seven built-in ones",
      description:
        'Shows the model that says what relations there are and which imply which. Version 0 is the built-in one with its seven relations, until the tenant publishes its own.',
      method: 'get',
      path: '/api/v1/fga/model',
      ok: modelShape,
      refusals: {},
    },
    async ({ tenantId }) => {
      // Reads the stream, which always contains every acknowledged write.
      const { state } = await streams.load(models, { tenantId, id: tenantId });
      return { ok: state };
    },
  );
