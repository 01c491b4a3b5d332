/**
 * A webhook: a tenant's address and the events to send there. Its URL may contain a token and its keys sign, so both
 * are encrypted fields. Readers see only the origin of the URL.
 */
import type { WebhookEvent } from '@cardea/contracts';
import type { Sealed } from '@cardea/crypto';
import type { Stream } from '@cardea/event-store';

export type ExistingWebhook = {
  readonly status: 'standing';
  readonly url: Sealed;
  readonly origin: string;
  readonly events: readonly WebhookEvent[];
  readonly description: string | null;
  readonly enabled: boolean;
  readonly appId: string | null;
  readonly keyVersion: number;
  readonly createdAt: string;
  readonly requestHash: string | null;
};
export type Webhook =
  | { readonly status: 'absent' }
  | { readonly status: 'deleted' }
  | ExistingWebhook;

/**
 * The ends of the source logs just before the webhook was created. Events at or before these positions are older than
 * the webhook. They are positions, because clocks differ and may be set back.
 */
export type BeginsAfter = {
  /** Positions of another epoch of the bus cannot be compared. */
  readonly epoch: string;
  readonly positions: { readonly [source: string]: string };
};

export type WebhookCreated = {
  readonly type: 'WebhookCreated';
  readonly concerns?: 'relay' | 'webhooks';
  readonly data: {
    readonly url: Sealed;
    readonly origin: string;
    readonly events: readonly WebhookEvent[];
    readonly description: string | null;
    readonly app_id: string | null;
    readonly keys: Sealed;
    readonly created_at: string;
    /** Missing in older events. */
    readonly begins_after?: BeginsAfter;
    /** A keyed hash of the body that was sent with an Idempotency-Key. */
    readonly request_hash: string | null;
  };
};
export type WebhookChanged = {
  readonly type: 'WebhookChanged';
  readonly data: {
    readonly url?: Sealed;
    readonly origin?: string;
    readonly events?: readonly WebhookEvent[];
    readonly description?: string | null;
    readonly enabled?: boolean;
  };
};
export type SecretRotated = {
  readonly type: 'SecretRotated';
  readonly concerns?: 'relay' | 'webhooks';
  readonly data: { readonly version: number; readonly keys: Sealed };
};
export type WebhookAutoDisabled = {
  readonly type: 'WebhookAutoDisabled';
  readonly concerns?: 'relay' | 'cancel_on_disable_or_delete' | 'webhooks';
  readonly data: { readonly failing_since: string; readonly failures: number };
};
export type WebhookDeleted = { readonly type: 'WebhookDeleted'; readonly data: object };
export type WebhookFact =
  | WebhookCreated
  | WebhookChanged
  | SecretRotated
  | WebhookAutoDisabled
  | WebhookDeleted;

export const FIRST_VERSION = 1;

export const webhooks: Stream<Webhook, WebhookFact> = {
  noun: 'webhook',
  initial: { status: 'absent' },
  evolve: (webhook, { type, data }) => {
    if (type === 'WebhookCreated') {
      return {
        status: 'standing',
        url: data.url,
        origin: data.origin,
        events: data.events,
        description: data.description,
        enabled: true,
        appId: data.app_id,
        keyVersion: FIRST_VERSION,
        createdAt: data.created_at,
        requestHash: data.request_hash,
      };
    }
    if (webhook.status !== 'standing') return webhook;
    switch (type) {
      case 'WebhookChanged': {
        const { url = webhook.url, origin = webhook.origin, events = webhook.events } = data;
        const { description = webhook.description, enabled = webhook.enabled } = data;
        return { ...webhook, url, origin, events, description, enabled };
      }
      case 'SecretRotated':
        return { ...webhook, keyVersion: data.version };
      case 'WebhookAutoDisabled':
        return { ...webhook, enabled: false };
      case 'WebhookDeleted':
        return { status: 'deleted' };
    }
  },
};

export const subjectOf = (webhookId: string): string => `webhook:${webhookId}`;

/** The AAD of a webhook's encrypted fields. */
export const locationOf = (webhookId: string, field: 'url' | 'keys') => ({
  subject: subjectOf(webhookId),
  streamId: `webhook-${webhookId}`,
  field,
});

/** A call that names an application sees only the webhooks that are bound to it. */
export function seenBy(webhook: Webhook, appId: string | undefined): ExistingWebhook | undefined {
  if (webhook.status !== 'standing') return undefined;
  return appId === undefined || webhook.appId === appId ? webhook : undefined;
}
