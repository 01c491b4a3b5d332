/** What the webhook dispatcher publishes: changes of webhooks, and deliveries that came to nothing. */
import Type from 'typebox';
import { actionDenied } from './action-denied.ts';
import { integrationEvents, nullable } from './integration-event.ts';

const webhook = { webhook_id: Type.String() };
/** Scheme, host and port: a path may carry a token. */
const shape = {
  origin: Type.String(),
  events: Type.Array(Type.String()),
  enabled: Type.Boolean(),
};

export const webhooksEvents = integrationEvents('webhooks', {
  'webhook.created': Type.Object({ ...webhook, ...shape }),
  'webhook.updated': Type.Object({ ...webhook, ...shape, changed: Type.Array(Type.String()) }),
  'webhook.secret_rotated': Type.Object({ ...webhook, version: Type.Integer({ minimum: 1 }) }),
  'webhook.deleted': Type.Object(webhook),
  'webhook.tested': Type.Object({ ...webhook, delivery_id: Type.String() }),
  'webhook.auto_disabled': Type.Object({
    ...webhook,
    failing_since: Type.String({ format: 'date-time' }),
    failures: Type.Integer({ minimum: 1 }),
  }),
  'delivery.retried': Type.Object({
    ...webhook,
    delivery_id: Type.String(),
    retry_of: Type.String(),
    event: Type.String(),
  }),
  'delivery.failed': Type.Object({
    ...webhook,
    delivery_id: Type.String(),
    event: Type.String(),
    attempts: Type.Integer({ minimum: 1 }),
    status_code: Type.Integer({ minimum: 0 }),
    error: nullable(Type.String()),
  }),
  'action.denied': actionDenied,
});
