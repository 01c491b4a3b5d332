import { endpoint } from '@cardea/http';
import { uuidV5 } from '@cardea/runtime';
import Type from 'typebox';
import type { WriteDependencies } from '../../webhooks/webhooks.module.ts';
import { ENDPOINT_DEFAULTS, webhooks } from '../../webhooks/webhooks.module.ts';
import { bodyOf, dataOf } from '../body.ts';
import { DELIVERIES_TABLE } from '../deliveries.projection.ts';
import { deliveries, streamOf } from '../delivery.ts';
import { readDeliveryAttemptId } from '../delivery-attempt-id.ts';
import type { DeliveryAttemptWatch } from '../delivery-attempt-watch.ts';
import { schedule } from '../schedule-delivery.ts';
import { whyNotRetried } from './retry.ts';

const ID_CHARS_MAX = 128;

export const retryDeliveryRoute = (
  needs: WriteDependencies & { readonly watch: DeliveryAttemptWatch },
) =>
  endpoint(
    {
      ...ENDPOINT_DEFAULTS,
      name: 'retry_webhook_delivery',
      retry: 'never',
      summary: 'Send the event of a delivery once more, newly dated and signed',
      method: 'post',
      path: '/api/v1/webhooks/deliveries/{id}/retry',
      params: Type.Object({ id: Type.String({ minLength: 1, maxLength: ID_CHARS_MAX }) }),
      body: Type.Object({}),
      bodyOptional: true,
      ok: Type.Object({ status: Type.Literal('retried') }),
      status: 202,
      refusals: { delivery_not_found: 422, webhook_unavailable: 422, payload_erased: 422 },
      waitsFor: [DELIVERIES_TABLE],
    },
    async (request) => {
      const { tenantId, appId, params } = request;
      const refused = <Code extends string>(code: Code) => ({
        refused: code,
        target: { type: 'delivery', id: params.id },
      });
      const attempt = readDeliveryAttemptId(params.id);
      if (attempt === undefined) return refused('delivery_not_found');
      const of = { tenantId, id: attempt.deliveryId };
      const { state: delivery } = await needs.streams.load(deliveries, of);
      if (delivery.status === 'absent') return refused('delivery_not_found');
      const { webhookId, subject, event } = delivery;
      const { state: webhook } = await needs.streams.load(webhooks, { tenantId, id: webhookId });
      const reason = whyNotRetried({ delivery, webhook, n: attempt.n, appId });
      if (reason !== undefined) return refused(reason);
      const field = 'body';
      const before = await needs.sealer.open(delivery.body, {
        streamId: streamOf(attempt.deliveryId),
        field,
      });
      if (before === null) return refused('payload_erased');

      const command = await needs.command(request);
      const deliveryId = uuidV5(command.id, webhookId);
      const place = { subject, streamId: streamOf(deliveryId), field };
      const text = bodyOf(event, command.now, dataOf(before));
      const body = await needs.sealer.seal(tenantId, place, text);
      if (body === 'erased') return refused('payload_erased');
      const scheduled = schedule({
        webhook_id: webhookId,
        app_id: delivery.appId,
        event,
        origin: 'manual',
        message_id: delivery.messageId,
        source: null,
        retry_of: attempt.deliveryId,
        subject,
        body,
        attempts: 1,
        run_at: command.now.toISOString(),
      });
      const { position } = await needs.watch.attemptedAfter(
        { tenantId, deliveryId, since: command.now, draining: request.draining },
        () => needs.streams.decideOn(deliveries, deliveryId, command, scheduled),
      );
      return { ok: { status: 'retried' as const }, wrote: position };
    },
  );
