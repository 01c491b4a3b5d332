/** Keeps table `webhooks`: what lists show, and what processes load at their start. */
import { type Projected, type Projection, patch, put, remove } from '@cardea/read-models';
import {
  FIRST_VERSION,
  type SecretRotated,
  type WebhookChanged,
  type WebhookCreated,
} from './webhook.ts';

export const WEBHOOKS_TABLE = 'webhooks';
const PREFIX = 'webhook-';

export const webhookIdOf = (streamId: string): string => streamId.slice(PREFIX.length);
export const isWebhookStream = (streamId: string): boolean => streamId.startsWith(PREFIX);

const change = (streamId: string, columns: object) => [
  { table: WEBHOOKS_TABLE, change: patch({ id: webhookIdOf(streamId) }, columns) },
];

export const webhooksTable: Projection = {
  name: WEBHOOKS_TABLE,
  log: 'webhooks',
  tables: [
    {
      name: WEBHOOKS_TABLE,
      key: ['id'],
      columns: {
        id: 'uuid',
        tenant_id: 'text',
        app_id: 'text',
        url: 'text',
        description: 'text',
        events: 'text[]',
        enabled: 'boolean',
        disabled_reason: 'text',
        keys: 'text',
        key_version: 'integer',
        created_at: 'timestamptz',
      },
    },
  ],
  on: {
    WebhookCreated: async (event: Projected<WebhookCreated['data']>, { open }) => {
      const { data, streamId, metadata } = event;
      const url = await open(data.url, { streamId, field: 'url' });
      // Its key is gone: the webhook was deleted since, and a later event of this log says so.
      if (url === null) return [];
      const row = {
        id: webhookIdOf(streamId),
        tenant_id: metadata.tenantId,
        app_id: data.app_id,
        url,
        description: data.description,
        events: data.events,
        enabled: true,
        disabled_reason: null,
        keys: data.keys.box,
        key_version: FIRST_VERSION,
        created_at: data.created_at,
      };
      return [{ table: WEBHOOKS_TABLE, change: put(row) }];
    },
    WebhookChanged: async ({ data, streamId }: Projected<WebhookChanged['data']>, { open }) => {
      const { url: sealed, origin: _origin, ...columns } = data;
      const url = sealed && (await open(sealed, { streamId, field: 'url' }));
      const { enabled } = columns;
      return change(streamId, {
        ...columns,
        ...(typeof url === 'string' ? { url } : {}),
        ...(enabled === undefined ? {} : { disabled_reason: enabled ? null : 'admin' }),
      });
    },
    SecretRotated: ({ data, streamId }: Projected<SecretRotated['data']>) =>
      change(streamId, { keys: data.keys.box, key_version: data.version }),
    WebhookAutoDisabled: ({ streamId }: Projected<object>) =>
      change(streamId, { enabled: false, disabled_reason: 'failing' }),
    WebhookDeleted: ({ streamId }: Projected<object>) => [
      { table: WEBHOOKS_TABLE, change: remove({ id: webhookIdOf(streamId) }) },
    ],
  },
};
