import { endpoint } from '@cardea/http';
import { isUuid } from '@cardea/runtime';
import Type from 'typebox';
import { webhooks } from '../webhook.ts';
import { idParams, notFound } from '../webhook-shape.ts';
import { WEBHOOKS_TABLE } from '../webhooks.projection.ts';
import { settle, type WriteDependencies } from '../writing.ts';
import { deleteWebhook } from './delete.ts';

export const deleteWebhookRoute = (needs: WriteDependencies) =>
  endpoint(
    {
      tag: 'Webhooks',
      who: ['admin'],
      name: 'delete_webhook',
      machine: 'webhooks:write',
      access: { class: 'settings', stepUp: 'applications' },
      repeat: 'safe',
      summary: 'Delete a webhook; nothing is sent to it afterwards',
      description:
        'Deletes a webhook. Nothing is sent to it afterwards, deliveries that wait for another attempt included.',
      method: 'delete',
      path: '/api/v1/webhooks/{id}',
      params: idParams,
      ok: Type.Object({ status: Type.Literal('webhook deleted') }),
      refusals: { webhook_not_found: 404 },
      consistency: { waitsFor: [WEBHOOKS_TABLE] },
    },
    async (request) => {
      const { id } = request.params;
      if (!isUuid(id)) return notFound(id);
      const command = await needs.command(request);
      const decided = await needs.streams.decideOn(webhooks, id, command, (webhook) =>
        deleteWebhook(webhook, request.appId),
      );
      if (!decided.accepted) return notFound(id);
      await settle(needs.index, decided.position);
      return { ok: { status: 'webhook deleted' as const }, wrote: decided.position };
    },
  );
