/** Maintains table `webhooks`, which lists read, and which processes load at their start. */
import type { WebhookEvent } from '@cardea/contracts';
import { jsonOf, orNull, projection, table, textsOf } from '@cardea/read-models';
import { type BeginsAfter, FIRST_VERSION, type WebhookFact } from './webhook.ts';

export const WEBHOOKS_TABLE = 'webhooks';
const PREFIX = 'webhook-';

export const webhookIdOf = (streamId: string): string => streamId.slice(PREFIX.length);
export const isWebhookStream = (streamId: string): boolean => streamId.startsWith(PREFIX);

export const webhookRows = table(WEBHOOKS_TABLE, {
  key: ['id'],
  columns: {
    id: 'uuid',
    tenant_id: 'text',
    app_id: orNull('text'),
    url: 'text',
    description: orNull('text'),
    events: textsOf<WebhookEvent>(),
    enabled: 'boolean',
    disabled_reason: orNull('text'),
    keys: 'text',
    key_version: 'integer',
    created_at: 'timestamptz',
    begins_after: orNull(jsonOf<BeginsAfter>()),
  },
});
const keyOf = ({ streamId }: { readonly streamId: string }) => ({ id: webhookIdOf(streamId) });

export const webhooksTable = projection<WebhookFact>()({
  name: WEBHOOKS_TABLE,
  log: 'webhooks',
  tables: [webhookRows],
  on: {
    WebhookCreated: async (event, { open }) => {
      const { data, streamId, metadata } = event;
      const url = await open(data.url, { streamId, field: 'url' });
      // The key was erased because the webhook was deleted. A later event of this log states that.
      if (url === null) return [];
      return [
        webhookRows.put({
          ...keyOf(event),
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
          begins_after: data.begins_after ?? null,
        }),
      ];
    },
    WebhookChanged: async (event, { open }) => {
      const { data, streamId } = event;
      const { url: sealed, origin: _origin, ...columns } = data;
      const url = sealed && (await open(sealed, { streamId, field: 'url' }));
      const { enabled } = columns;
      return [
        webhookRows.patch(keyOf(event), {
          ...columns,
          ...(typeof url === 'string' ? { url } : {}),
          ...(enabled === undefined ? {} : { disabled_reason: enabled ? null : 'admin' }),
        }),
      ];
    },
    SecretRotated: (event) => {
      const { keys, version } = event.data;
      return [webhookRows.patch(keyOf(event), { keys: keys.box, key_version: version })];
    },
    WebhookAutoDisabled: (event) => [
      webhookRows.patch(keyOf(event), { enabled: false, disabled_reason: 'failing' }),
    ],
    WebhookDeleted: (event) => [webhookRows.remove(keyOf(event))],
  },
});
