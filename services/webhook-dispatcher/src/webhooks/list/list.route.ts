import { endpoint } from '@cardea/http';
import type { Database } from '@cardea/read-models';
import Type from 'typebox';
import { rowsOf } from '../webhook-rows.ts';
import { webhookShape } from '../webhook-shape.ts';
import { WEBHOOKS_TABLE } from '../webhooks.projection.ts';

export const listWebhooksRoute = ({ database }: { readonly database: Database }) =>
  endpoint(
    {
      tag: 'Webhooks',
      who: ['admin'],
      name: 'list_webhooks',
      machine: 'webhooks:read',
      access: { class: 'things', applicationScope: 'roles' },
      summary: 'All webhooks of the tenant, oldest first',
      description:
        'Lists the webhooks of the tenant, oldest first and without their secrets. A tenant has at most 500, so there are no pages. `X-Service-App-Id` narrows the list to the webhooks of one application.',
      method: 'get',
      path: '/api/v1/webhooks',
      ok: Type.Object({ webhooks: Type.Array(webhookShape) }),
      refusals: {},
      consistency: { reads: [WEBHOOKS_TABLE] },
    },
    async ({ tenantId, appId }) => ({
      ok: { webhooks: await rowsOf(database, { tenantId, appId }) },
    }),
  );
