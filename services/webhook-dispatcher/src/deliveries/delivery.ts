/**
 * A delivery: one event to send to one webhook, with one recorded event per attempt. Its id is derived from its cause,
 * so that the same cause schedules it only once.
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
    /** A delivery and its manual retries share this id, by which receivers recognize duplicates. */
    readonly message_id: string;
    /** The id of the integration event that it delivers. */
    readonly source: string | null;
    readonly retry_of: string | null;
    /** The subject whose key encrypts the body and the excerpts. */
    readonly subject: string;
    readonly body: Sealed;
    /** The maximum number of attempts. */
    readonly attempts: number;
    readonly run_at: string;
  };
};

type DeliveryAttempt = {
  readonly webhook_id: string;
  readonly app_id: string | null;
  readonly event: WebhookEvent;
  readonly origin: Origin;
  /** The number of the attempt, from 1. */
  readonly n: number;
  /** 0 if there was no response. */
  readonly status_code: number;
  /** The reason of a failure without a response. */
  readonly error: string | null;
  readonly duration_ms: number;
  readonly started_at: string;
  /** The beginning of the response. Null if there was none, or if the key was erased. */
  readonly excerpt: Sealed | null;
};

/** A failed attempt, and when the next one follows. Null if the delivery was cancelled in between. */
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
