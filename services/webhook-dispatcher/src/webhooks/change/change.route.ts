import { endpoint } from '@cardea/http';
import { isUuid } from '@cardea/runtime';
import Type from 'typebox';
import { type ExistingWebhook, locationOf, type WebhookChanged, webhooks } from '../webhook.ts';
import {
  descriptionField,
  eventsField,
  idParams,
  invalidUrl,
  notFound,
  readEvents,
  readUrl,
  unknownEvent,
  urlField,
  type WebhookShape,
  webhookShape,
} from '../webhook-shape.ts';
import { WEBHOOKS_TABLE } from '../webhooks.projection.ts';
import { settle, type WriteDependencies } from '../writing.ts';
import { changeWebhook } from './change.ts';

export const changeWebhookRoute = (needs: WriteDependencies) =>
  endpoint(
    {
      tag: 'Webhooks',
      who: ['admin'],
      name: 'change_webhook',
      machine: 'webhooks:write',
      access: { class: 'settings', stepUp: 'users' },
      repeat: 'safe',
      summary: 'Change a webhook, enable or disable it',
      description:
        'Changes the address, the events or the description of a webhook, or enables or disables it. What the body does not name stays. While a webhook is disabled, it receives nothing but tests.',
      method: 'patch',
      path: '/api/v1/webhooks/{id}',
      params: idParams,
      body: Type.Object(
        {
          enabled: Type.Optional(Type.Boolean()),
          url: Type.Optional(urlField),
          events: Type.Optional(eventsField),
          description: Type.Optional(Type.Union([descriptionField, Type.Null()])),
        },
        { minProperties: 1 },
      ),
      ok: webhookShape,
      refusals: { invalid_url: 400, unknown_event: 400, webhook_not_found: 404 },
      consistency: { waitsFor: [WEBHOOKS_TABLE] },
    },
    async (request) => {
      const { body, params, tenantId, appId } = request;
      const { id } = params;
      const judged = body.url === undefined ? undefined : readUrl(body.url, needs.settings);
      if (judged !== undefined && 'rule' in judged) return invalidUrl(judged.rule);
      const events = body.events === undefined ? undefined : readEvents(body.events);
      if (body.events !== undefined && events === undefined) return unknownEvent(body.events);
      if (!isUuid(id)) return notFound(id);
      const { state } = await needs.streams.load(webhooks, { tenantId, id });
      if (state.status !== 'standing') return notFound(id);

      const url =
        body.url === undefined
          ? undefined
          : await needs.sealer.seal(tenantId, locationOf(id, 'url'), body.url);
      // The webhook was deleted in between.
      if (url === 'erased') return notFound(id);
      const change: WebhookChanged['data'] = {
        ...(url === undefined || judged === undefined ? {} : { url, origin: judged.origin }),
        ...(events === undefined ? {} : { events }),
        ...(body.description === undefined ? {} : { description: body.description }),
        ...(body.enabled === undefined ? {} : { enabled: body.enabled }),
      };
      const command = await needs.command(request);
      const decided = await needs.streams.decideOn(webhooks, id, command, (webhook) =>
        changeWebhook(webhook, change, appId),
      );
      if (!decided.accepted || decided.state.status !== 'standing') return notFound(id);
      await settle(needs.index, decided.position);
      const shown = body.url ?? (await needs.sealer.open(decided.state.url, locationOf(id, 'url')));
      if (shown === null) return notFound(id);
      return { ok: shapeOf(id, decided.state, shown), wrote: decided.position };
    },
  );

const shapeOf = (id: string, webhook: ExistingWebhook, url: string): WebhookShape => ({
  id,
  url,
  ...(webhook.description === null ? {} : { description: webhook.description }),
  events: [...webhook.events],
  enabled: webhook.enabled,
  created_at: webhook.createdAt,
});
