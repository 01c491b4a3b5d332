/**
 * A delivery: one event on its way to one webhook, one recorded event per attempt. Its id is derived
 * from what caused it, so that whatever causes it twice schedules it once.
 */
import type { WebhookEvent } from '@cardea/contracts';
import type { Sealed } from '@cardea/crypto';
import type { Stream } from '@cardea/event-store';

export type Origin = 'event' | 'test' | 'manual';

export type DeliveryScheduled = {
  readonly type: 'DeliveryScheduled';
  readonly concerns?: 'relay' | 'deliveries';
  readonly data: {
    readonly webhook_id: string;
    readonly app_id: string | null;
    readonly event: WebhookEvent;
    readonly origin: Origin;
    /** A delivery and its manual retries share it: receivers recognize duplicates by it. */
    readonly message_id: string;
    /** Id of the integration event that it delivers. */
    readonly source: string | null;
    readonly retry_of: string | null;
    /** The subject under whose key the body and the excerpts are sealed. */
    readonly subject: string;
    readonly body: Sealed;
    /** How often it is tried. */
    readonly attempts: number;
    readonly run_at: string;
  };
};

type DeliveryAttempt = {
  readonly webhook_id: string;
  readonly app_id: string | null;
  readonly event: WebhookEvent;
  readonly origin: Origin;
  /** From 1 on. */
  readonly n: number;
  /** 0 when no answer came. */
  readonly status_code: number;
  /** The reason of a failure where no answer came. */
  readonly error: string | null;
  readonly duration_ms: number;
  readonly started_at: string;
  /** The beginning of the answer; null where there was none, or nothing may be sealed any more. */
  readonly excerpt: Sealed | null;
};

/** A failed attempt, and when the next one follows; null where the delivery was cancelled meanwhile. */
export type DeliveryAttempted = {
  readonly type: 'DeliveryAttempted';
  readonly concerns?: 'deliveries' | 'health';
  readonly data: DeliveryAttempt & { readonly next_at: string | null };
};
export type DeliverySucceeded = {
  readonly type: 'DeliverySucceeded';
  readonly concerns?: 'deliveries' | 'health' | 'supersede_on_manual_success';
  readonly data: DeliveryAttempt;
};
/** The last attempt failed. */
export type DeliveryFailed = {
  readonly type: 'DeliveryFailed';
  readonly concerns?: 'relay' | 'deliveries' | 'health';
  readonly data: DeliveryAttempt & { readonly cause: 'exhausted' | 'single' };
};
export type CancelCause = 'superseded' | 'webhook_disabled' | 'webhook_deleted' | 'payload_erased';
export type DeliveryCancelled = {
  readonly type: 'DeliveryCancelled';
  readonly concerns?: 'deliveries';
  readonly data: { readonly cause: CancelCause };
};

export type DeliveryAttemptFact = DeliveryAttempted | DeliverySucceeded | DeliveryFailed;
export type DeliveryFact = DeliveryScheduled | DeliveryAttemptFact | DeliveryCancelled;

export type Delivery =
  | { readonly status: 'absent' }
  | {
      readonly status: 'pending' | 'succeeded' | 'failed' | 'cancelled';
      readonly webhookId: string;
      readonly appId: string | null;
      readonly event: WebhookEvent;
      readonly origin: Origin;
      readonly messageId: string;
      readonly subject: string;
      readonly body: Sealed;
      readonly attempts: number;
      readonly attemptsMade: number;
    };

export const deliveries: Stream<Delivery, DeliveryFact> = {
  noun: 'delivery',
  initial: { status: 'absent' },
  evolve: (delivery, { type, data }) => {
    if (type === 'DeliveryScheduled') {
      return {
        status: 'pending',
        webhookId: data.webhook_id,
        appId: data.app_id,
        event: data.event,
        origin: data.origin,
        messageId: data.message_id,
        subject: data.subject,
        body: data.body,
        attempts: data.attempts,
        attemptsMade: 0,
      };
    }
    if (delivery.status === 'absent') return delivery;
    switch (type) {
      case 'DeliveryAttempted':
        return { ...delivery, attemptsMade: data.n };
      case 'DeliverySucceeded':
        return { ...delivery, attemptsMade: data.n, status: 'succeeded' };
      case 'DeliveryFailed':
        return { ...delivery, attemptsMade: data.n, status: 'failed' };
      case 'DeliveryCancelled':
        return { ...delivery, status: 'cancelled' };
    }
  },
};

export const streamOf = (deliveryId: string): string => `delivery-${deliveryId}`;
export const deliveryIdOf = (streamId: string): string => streamId.slice('delivery-'.length);
export const excerptField = (n: number): string => `excerpt-${n}`;
