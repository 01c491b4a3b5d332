/** Rows for the events of the webhook dispatcher. */
import type { DataOf, webhooksEvents } from '@cardea/contracts';
import type { Details, Rule } from '../audit-row.ts';
import { denied } from './denied.ts';

type Type = (typeof webhooksEvents)['types'][number];
type Data<Of extends Type> = DataOf<typeof webhooksEvents, Of>;

const webhook = <Of extends { readonly webhook_id: string }>(
  verb: string,
  action: string,
  details: (data: Of) => Details = () => ({}),
): Rule<Of> => ({
  category: 'admin',
  says: ({ data }) => ({
    type: `admin.webhook.${verb}`,
    action,
    target: { type: 'webhook', id: data.webhook_id },
    details: details(data),
  }),
});

const shape = ({ origin, events, enabled }: Data<'webhook.created'>): Details => ({
  origin,
  events,
  enabled,
});

export const webhooksRules: { readonly [Of in Type]: Rule<Data<Of>> } = {
  'webhook.created': webhook('create', 'create', shape),
  'webhook.updated': webhook<Data<'webhook.updated'>>('update', 'update', (data) => ({
    ...shape(data),
    changed: data.changed,
  })),
  'webhook.secret_rotated': webhook('rotate_secret', 'rotate'),
  'webhook.deleted': webhook('delete', 'delete'),
  'webhook.tested': webhook('test', 'test'),
  'webhook.auto_disabled': {
    category: 'admin',
    says: ({ data }) => ({
      type: 'webhook.auto_disabled',
      action: 'disable',
      target: { type: 'webhook', id: data.webhook_id },
      details: { failing_since: data.failing_since },
    }),
  },
  'delivery.retried': {
    category: 'admin',
    says: ({ data }) => ({
      type: 'admin.webhook.retry_delivery',
      action: 'retry',
      target: { type: 'delivery', id: data.delivery_id },
      details: { webhook_id: data.webhook_id, retry_of: data.retry_of, event: data.event },
    }),
  },
  'delivery.failed': {
    category: 'admin',
    says: ({ data }) => ({
      type: 'webhook.delivery_failed',
      action: 'deliver',
      result: 'failure',
      target: { type: 'delivery', id: data.delivery_id },
      details: {
        webhook_id: data.webhook_id,
        event: data.event,
        attempts: data.attempts,
        status_code: data.status_code,
        error: data.error,
      },
    }),
  },
  'action.denied': denied('admin'),
};
