import type { WebhookPayload } from '@cardea/contracts';
import { endpoint } from '@cardea/http';
import { isUuid, uuidV5 } from '@cardea/runtime';
import Type from 'typebox';
import type { WriteDependencies } from '../../webhooks/webhooks.module.ts';
import { idParams, notFound, seenBy, subjectOf, webhooks } from '../../webhooks/webhooks.module.ts';
import { bodyOf } from '../body.ts';
import { DELIVERIES_TABLE } from '../deliveries.projection.ts';
import { deliveries, streamOf } from '../delivery.ts';
import type { DeliveryAttemptWatch } from '../delivery-attempt-watch.ts';
import { scheduleTest } from './schedule-test.ts';

const MESSAGE = 'This is a test of your webhook.';

export const testWebhookRoute = (
  needs: WriteDependencies & { readonly watch: DeliveryAttemptWatch },
) =>
  endpoint(
    {
      tag: 'Webhooks',
      who: ['admin'],
      name: 'test_webhook',
      machine: 'webhooks:write',
      access: { class: 'things', applicationScope: 'roles' },
      repeat: 'never',
      summary: 'Send a webhook.test to a webhook, enabled or not',
      description:
        'Sends `webhook.test` to a webhook, also to one that is disabled, and records a delivery. 202 does not say that the receiver accepted it: read `GET /api/v1/webhooks/deliveries`.',
      method: 'post',
      path: '/api/v1/webhooks/{id}/test',
      params: idParams,
      body: Type.Object({}),
      input: { isOptional: true },
      ok: Type.Object({ status: Type.Literal('sent') }),
      response: { status: 202 },
      refusals: { webhook_not_found: 404 },
      consistency: { waitsFor: [DELIVERIES_TABLE] },
    },
    async (request) => {
      const { tenantId, appId, params } = request;
      const { id } = params;
      if (!isUuid(id)) return notFound(id);
      const { state } = await needs.streams.load(webhooks, { tenantId, id });
      const webhook = seenBy(state, appId);
      if (webhook === undefined) return notFound(id);
      const command = await needs.command(request);
      const deliveryId = uuidV5(command.id, id);
      const triggered = command.now.toISOString();
      const data: WebhookPayload<'webhook.test'> = {
        test: true,
        message: MESSAGE,
        webhook: id,
        triggered,
      };
      const body = await needs.sealer.seal(
        tenantId,
        { subject: subjectOf(id), streamId: streamOf(deliveryId), field: 'body' },
        bodyOf('webhook.test', command.now, JSON.stringify(data)),
      );
      if (body === 'erased') return notFound(id);
      const scheduled = scheduleTest({
        webhookId: id,
        webhook,
        deliveryId,
        body,
        attempts: needs.settings.WEBHOOK_RETRY_DELAYS.length + 1,
        now: command.now,
      });
      const { position } = await needs.watch.attemptedAfter(
        { tenantId, deliveryId, since: command.now, draining: request.draining },
        () => needs.streams.decideOn(deliveries, deliveryId, command, scheduled),
      );
      return { ok: { status: 'sent' as const }, wrote: position };
    },
  );
