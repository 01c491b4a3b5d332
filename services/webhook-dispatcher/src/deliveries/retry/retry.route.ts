import { endpoint } from '@cardea/http';
import Type from 'typebox';
import type { WriteDependencies } from '../../webhooks/webhooks.module.ts';
import { webhooks } from '../../webhooks/webhooks.module.ts';
import { DELIVERIES_TABLE } from '../deliveries.projection.ts';
import { deliveries } from '../delivery.ts';
import { readDeliveryAttemptId } from '../delivery-attempt-id.ts';
import type { DeliveryAttemptWatch } from '../delivery-attempt-watch.ts';
import { manualDelivery } from './manual-delivery.ts';
import { whyNotRetried } from './retry.ts';

const ID_CHARS_MAX = 128;

export const retryDeliveryRoute = (
  needs: WriteDependencies & { readonly watch: DeliveryAttemptWatch },
) =>
  endpoint(
    {
      tag: 'Webhooks',
      who: ['admin'],
      name: 'retry_webhook_delivery',
      machine: 'webhooks:write',
      access: { class: 'things', applicationScope: 'roles' },
      repeat: 'never',
      summary: 'Send the event of a delivery once more, newly dated and signed',
      description:
        'Sends the event of an earlier delivery once more: the same event and data with a new timestamp and signature, as a delivery of its own.',
      method: 'post',
      path: '/api/v1/webhooks/deliveries/{id}/retry',
      params: Type.Object({ id: Type.String({ minLength: 1, maxLength: ID_CHARS_MAX }) }),
      body: Type.Object({}),
      input: { isOptional: true },
      ok: Type.Object({ status: Type.Literal('retried') }),
      response: { status: 202 },
      refusals: { delivery_not_found: 422, webhook_unavailable: 422, payload_erased: 422 },
      consistency: { waitsFor: [DELIVERIES_TABLE] },
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
      const { webhookId } = delivery;
      const { state: webhook } = await needs.streams.load(webhooks, { tenantId, id: webhookId });
      const reason = whyNotRetried({ delivery, webhook, n: attempt.n, appId });
      if (reason !== undefined) return refused(reason);
      const command = await needs.command(request);
      const { deliveryId } = attempt;
      const next = await manualDelivery(needs, { tenantId, deliveryId, delivery, command });
      if (next === undefined) return refused('payload_erased');
      const { position } = await needs.watch.attemptedAfter(
        { tenantId, deliveryId: next.id, since: command.now, draining: request.draining },
        () => needs.streams.decideOn(deliveries, next.id, command, next.scheduled),
      );
      return { ok: { status: 'retried' as const }, wrote: position };
    },
  );
