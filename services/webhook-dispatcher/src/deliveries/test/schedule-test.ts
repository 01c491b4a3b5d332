/** A test is a delivery like any other, except that it is also sent to a disabled webhook. */
import type { Sealed } from '@cardea/crypto';
import { type ExistingWebhook, subjectOf } from '../../webhooks/webhooks.module.ts';
import { schedule } from '../schedule-delivery.ts';

export const scheduleTest = (test: {
  readonly webhookId: string;
  readonly webhook: Pick<ExistingWebhook, 'appId'>;
  readonly deliveryId: string;
  readonly body: Sealed;
  /** The maximum number of attempts. */
  readonly attempts: number;
  readonly now: Date;
}) =>
  schedule({
    webhook_id: test.webhookId,
    app_id: test.webhook.appId,
    event: 'webhook.test',
    origin: 'test',
    message_id: test.deliveryId,
    source: null,
    retry_of: null,
    subject: subjectOf(test.webhookId),
    body: test.body,
    attempts: test.attempts,
    run_at: test.now.toISOString(),
  });
