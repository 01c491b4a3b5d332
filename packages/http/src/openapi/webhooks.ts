/** The requests that Cardea sends to customers' webhook endpoints (`docs/contract.md` 6.1). */
import { webhookPayloads } from '@cardea/contracts';
import { plainSchema } from '../input/validation.ts';
import { type Json, type NamedTypes, pascal } from './named-types.ts';

const header = (name: string, description: string, schema: object) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema,
});

export const webhooksOf = (types: NamedTypes): Json =>
  Object.fromEntries(
    Object.entries(webhookPayloads).map(([event, { description, schema }]) => [
      event,
      { post: delivery(event, description, types.take(payload(event, plainSchema(schema)))) },
    ]),
  );

const payload = (event: string, data: Json): Json => ({
  title: `${pascal(event.replaceAll('.', '_'))}Webhook`,
  type: 'object',
  required: ['event', 'timestamp', 'data'],
  properties: {
    event: { type: 'string', const: event },
    timestamp: { type: 'string', format: 'date-time' },
    data,
  },
});

const delivery = (event: string, description: string, schema: Json): Json => ({
  operationId: `on${pascal(event.replaceAll('.', '_'))}`,
  summary: description,
  tags: ['Webhooks'],
  security: [],
  parameters: [
    header(
      'X-Service-Signature',
      '`sha256=<hex>`: HMAC-SHA256 of the raw body under the secret of the webhook. Compare it in constant time.',
      { type: 'string', pattern: '^sha256=[0-9a-f]{64}$' },
    ),
  ],
  requestBody: { required: true, content: { 'application/json': { schema } } },
  responses: {
    '2XX': { description: 'Received.' },
    default: { description: 'Tried again after 30 s, 2 min, 10 min, 30 min and 2 h.' },
  },
});
