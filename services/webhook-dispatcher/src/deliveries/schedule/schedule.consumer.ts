/**
 * Turns every event that a webhook has subscribed to into a delivery. The index of webhooks is first brought up to the
 * log's end at the time when the events arrived, so that a webhook that was created before an event always gets it.
 */
import type { IntegrationEvent } from '@cardea/contracts';
import { batchConsumer } from '@cardea/event-bus';
import type { Command, EventStore } from '@cardea/event-store';
import { NotCaughtUp } from '@cardea/log-follower';
import { uuidV5 } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import type { IndexedWebhook, WebhookIndex } from '../../webhooks/webhooks.module.ts';
import { subjectOf } from '../../webhooks/webhooks.module.ts';
import { bodyOf } from '../body.ts';
import { deleteWebhooksOf } from '../delete-webhooks-of-tenant.ts';
import { deliveries, streamOf } from '../delivery.ts';
import { notesOfDeletedUsers } from '../erase-deleted-users.ts';
import { schedule } from '../schedule-delivery.ts';
import { type PayloadSource, payloads, webhookEventOf } from './payload.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'clock' | 'database' | 'positions' | 'sealer' | 'settings' | 'streams' | 'systemCommand'
> & {
  readonly store: Pick<EventStore, 'log' | 'head'>;
  readonly index: WebhookIndex;
};

const INDEX_WAIT_MS = 30_000;
const DECISIONS_MAX = 256;

export const scheduleDeliveries = (needs: Dependencies) =>
  batchConsumer(payloads, {
    appliedTypes: ['user.deleted'],
    // Other events are read once a second, which saves two round trips per batch. They are matched by a current index
    // too.
    isUrgent: ({ type, tenantId }) => needs.index.mayMatch(webhookEventOf(type), tenantId),
    prepare: async (events) => {
      const { store, index, streams } = needs;
      if (!(await index.reached(await store.head(store.log), INDEX_WAIT_MS))) {
        throw new NotCaughtUp('the index of webhooks is behind its log');
      }
      let waiting: Told[] = [];
      const decide = async (): Promise<void> => {
        // Encrypted concurrently, because keys that are created in one turn share a commit.
        const made = await Promise.all(waiting.map((told) => schedulingOf(needs, told)));
        waiting = [];
        const schedulings = made.filter((scheduling) => scheduling !== undefined);
        if (schedulings.length > 0) await streams.decideOnMany(deliveries, schedulings);
      };
      for (const told of toldBy(needs, events)) {
        waiting.push(told);
        if (waiting.length === DECISIONS_MAX) await decide();
      }
      await decide();
      for (const event of events) {
        if (event.type === 'tenant.deleted') await deleteWebhooksOf(needs, event);
      }
    },
    statements: (events) => notesOfDeletedUsers(events, needs.clock.now()),
  });

type Told = {
  readonly event: IntegrationEvent;
  readonly told: PayloadSource;
  readonly webhook: IndexedWebhook;
};

/** One decision of a batch. If it is repeated, it finds that the delivery is scheduled already. */
type Scheduling = {
  readonly id: string;
  readonly command: Command;
  readonly decide: ReturnType<typeof schedule>;
  readonly isNew: true;
};

/** Each event with each webhook that has subscribed to it. */
function* toldBy(needs: Dependencies, events: readonly IntegrationEvent[]): Generator<Told> {
  for (const event of events) {
    const told = payloads.meaningOf(event);
    if (told === undefined) continue;
    const matching = needs.index.matching({
      tenantId: event.tenantId,
      event: told.event,
      appId: event.data.context.app_id,
      source: event.source,
      position: event.position,
      ...(event.logEpoch === undefined ? {} : { logEpoch: event.logEpoch }),
    });
    for (const webhook of matching) yield { event, told, webhook };
  }
}

/** Returns undefined if the user was erased in between. */
async function schedulingOf(
  needs: Dependencies,
  { event, told, webhook }: Told,
): Promise<Scheduling | undefined> {
  const deliveryId = uuidV5(event.id, webhook.id);
  const command = needs.systemCommand(event.tenantId, 'schedule', event.id, webhook.id);
  const subject = told.subject ?? subjectOf(webhook.id);
  const text = bodyOf(told.event, command.now, JSON.stringify(told.data));
  const place = { subject, streamId: streamOf(deliveryId), field: 'body' };
  const body = await needs.sealer.seal(event.tenantId, place, text);
  if (body === 'erased') return undefined;
  const decide = schedule({
    webhook_id: webhook.id,
    app_id: webhook.appId,
    event: told.event,
    origin: 'event',
    message_id: deliveryId,
    source: event.id,
    retry_of: null,
    subject,
    body,
    attempts: needs.settings.WEBHOOK_RETRY_DELAYS.length + 1,
    run_at: command.now.toISOString(),
  });
  const { traceparent, correlationId } = event;
  const metadata = {
    ...command.metadata,
    causationId: event.id,
    ...(correlationId === undefined ? {} : { correlationId }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
  return { id: deliveryId, command: { ...command, metadata }, decide, isNew: true };
}
