import { named, webhookPayloads } from '@cardea/contracts';
import { endpoint } from '@cardea/http';
import Type from 'typebox';

const EVENT_TYPES = Object.entries(webhookPayloads).map(([name, { description, schema }]) => ({
  name,
  description,
  schema: JSON.parse(JSON.stringify(schema)) as object,
}));

export const listEventTypesRoute = () =>
  endpoint(
    {
      tag: 'Webhooks',
      who: ['admin'],
      name: 'list_webhook_event_types',
      machine: 'webhooks:read',
      access: { class: 'things', applicationScope: 'roles' },
      summary: 'The events that a webhook can be told of, and what it is told',
      description:
        'Lists all events that a webhook can subscribe to, each with its meaning and the JSON Schema of its `data`.',
      method: 'get',
      path: '/api/v1/webhooks/event-types',
      ok: Type.Object({
        event_types: Type.Array(
          named(
            'WebhookEventType',
            Type.Object({
              name: Type.String(),
              description: Type.String(),
              schema: Type.Object({}, { additionalProperties: true }),
            }),
          ),
        ),
      }),
      refusals: {},
    },
    async () => ({ ok: { event_types: EVENT_TYPES } }),
  );
