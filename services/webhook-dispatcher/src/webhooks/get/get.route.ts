import { endpoint } from '@cardea/http';
import type { Database } from '@cardea/read-models';
import { isUuid } from '@cardea/runtime';
import { rowsOf } from '../webhook-rows.ts';
import { idParams, notFound, webhookShape } from '../webhook-shape.ts';
import { WEBHOOKS_TABLE } from '../webhooks.projection.ts';

export const getWebhookRoute = ({ database }: { readonly database: Database }) =>
  endpoint(
    {
      tag: 'Webhooks',
      who: ['admin'],
      name: 'get_webhook',
      machine: 'webhooks:read',
      access: { class: 'things', applicationScope: 'roles' },
      summary: 'One webhook',
      description: 'Shows one webhook, without its secret.',
      method: 'get',
      path: '/api/v1/webhooks/{id}',
      params: idParams,
      ok: webhookShape,
      refusals: { webhook_not_found: 404 },
      consistency: { reads: [WEBHOOKS_TABLE] },
    },
    async ({ tenantId, appId, params }) => {
      const { id } = params;
      const [webhook] = isUuid(id) ? await rowsOf(database, { tenantId, appId, id }) : [];
      return webhook === undefined ? notFound(id) : { ok: webhook };
    },
  );
