/** Makes one attempt: decrypts the body, signs it with the current key, and posts it to the current URL. */
import type { Sealer } from '@cardea/crypto';
import { excerptOf, type Outbound } from '@cardea/http';
import { type Clock, currentTraceparent, metrics, span } from '@cardea/runtime';
import packageJson from '../../../package.json' with { type: 'json' };
import { signatureHeaders } from '../../adapters/signing.ts';
import type { Target, WebhookIndex } from '../../webhooks/webhooks.module.ts';
import { type CancelCause, streamOf } from '../delivery.ts';
import type { Claimed } from '../queue.ts';

export type SendDependencies = {
  readonly index: WebhookIndex;
  readonly sealer: Sealer;
  readonly outbound: Outbound;
  readonly clock: Clock;
};

/** Everything that an attempt needs, or why there must be none. */
type Prepared =
  | { readonly target: Target; readonly body: string }
  | { readonly cancel: CancelCause };

export type Sent = {
  readonly status: number;
  readonly error: string | null;
  readonly durationMs: number;
  readonly startedAt: Date;
  readonly endedAt: Date;
  readonly excerpt: string;
};

const INDEX_WAIT_MS = 5_000;
/** How often a webhook may change between reading and using it before the attempt gives up. */
const LOOKS_MAX = 5;
const USER_AGENT = `Cardea-Webhooks/${packageJson.version}`;

export async function prepare(
  { index, sealer }: SendDependencies,
  claimed: Claimed,
): Promise<Prepared | 'behind'> {
  if (!(await index.reached(claimed.position, INDEX_WAIT_MS))) return 'behind';
  const place = { streamId: streamOf(claimed.deliveryId), field: 'body' };
  const body = await sealer.open({ subject: claimed.subject, box: claimed.box }, place);
  if (body === null) return { cancel: 'payload_erased' };
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    const webhook = index.get(claimed.webhookId);
    if (webhook === undefined) return { cancel: 'webhook_deleted' };
    if (!webhook.enabled && claimed.origin !== 'test') return { cancel: 'webhook_disabled' };
    const target = await index.target(webhook);
    // Only the current webhook is used after the wait, because a rotated key must not sign any more.
    if (index.get(claimed.webhookId) !== webhook) continue;
    return target === undefined ? { cancel: 'webhook_deleted' } : { target, body };
  }
  return 'behind';
}

type Ready = { readonly target: Target; readonly body: string };

/** Records one span and one count per attempt. The receiver gets the trace of the event. */
export async function send(
  needs: SendDependencies,
  claimed: Claimed,
  prepared: Ready,
): Promise<Sent> {
  const sent = await span('deliver', () => posted(needs, claimed, prepared), {
    attributes: { attempt: claimed.attemptsMade + 1 },
    parent: claimed.traceparent ?? undefined,
  });
  const isSuccess = sent.status >= 200 && sent.status < 300;
  metrics.webhookAttempts.inc({ outcome: isSuccess ? 'success' : (sent.error ?? 'status') });
  return sent;
}

async function posted(
  { outbound, clock }: SendDependencies,
  claimed: Claimed,
  { target, body }: Ready,
): Promise<Sent> {
  const startedAt = clock.now();
  const { deliveryId, messageId, event, attemptsMade } = claimed;
  const traceparent = currentTraceparent() ?? claimed.traceparent;
  const answer = await outbound.send({
    url: target.url,
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': USER_AGENT,
      'X-Service-Event': event,
      'X-Service-Delivery': deliveryId,
      'X-Service-Attempt': String(attemptsMade + 1),
      ...signatureHeaders(target.keys, { id: messageId, at: startedAt, body }),
      ...(traceparent === null ? {} : { traceparent }),
    },
    body,
  });
  return {
    status: answer.status,
    error: answer.error ?? null,
    durationMs: answer.durationMs,
    startedAt,
    endedAt: clock.now(),
    excerpt: excerptOf(answer.body),
  };
}
