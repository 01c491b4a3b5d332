import type { Streams } from '@cardea/event-store';
import { endpoint } from '@cardea/http';
import { READS } from '../../tuples/endpoint-defaults.ts';
import { models } from '../model.ts';
import { modelShape } from '../model-shape.ts';

export const showModelRoute = ({ streams }: { readonly streams: Streams }) =>
  endpoint(
    {
      ...READS,
      who: ['admin'],
      applicationScope: 'roles',
      name: 'show_model',
      summary: "The tenant's model of relations; version 0 is the seven built-in ones",
      method: 'get',
      path: '/api/v1/fga/model',
      ok: modelShape,
      refusals: {},
    },
    async ({ tenantId }) => {
      // From the stream, which is never older than what was acknowledged anywhere.
      const { state } = await streams.load(models, { tenantId, id: tenantId });
      return { ok: state };
    },
  );
