/**
 * Every event that a webhook wants to hear of becomes a delivery. The index of webhooks is level with
 * the log as of after the events had arrived, so that a webhook whose making was answered before an
 * event always gets it.
 */
import type { IntegrationEvent, JsonObject } from '@cardea/contracts';
import { SubjectErased } from '@cardea/crypto';
import type { Consumer } from '@cardea/event-bus';
import { type Append, type EventStore, eventId } from '@cardea/event-store';
import { DatabaseUnavailable } from '@cardea/read-models';
import { uuidV5 } from '@cardea/runtime';
import type { ServiceNeeds } from '@cardea/service';
import { subjectOf } from '../../webhooks/webhook.ts';
import type { IndexedWebhook, WebhookIndex } from '../../webhooks/webhook-index.ts';
import { bodyOf } from '../body.ts';
import { type DeliveryScheduled, streamOf } from '../delivery.ts';
import { noteDeletedUsers } from '../erase-deleted-users.ts';
import { payloadOf, SOURCE_TYPES, SOURCES, type Told } from './payload.ts';

type Needs = Pick<ServiceNeeds, 'sealer' | 'clock' | 'settings' | 'systemCommand'> & {
  readonly store: EventStore;
  readonly index: WebhookIndex;
};

const INDEX_WAIT_MS = 30_000;
const APPENDS_MAX = 256;

export const scheduleDeliveries = (needs: Needs): Consumer => ({
  name: 'webhooks',
  topics: SOURCES,
  types: SOURCE_TYPES,
  handle: async (events, transaction) => {
    const { store, index } = needs;
    if (!(await index.reached(await store.head(store.log), INDEX_WAIT_MS))) {
      throw new DatabaseUnavailable('the index of webhooks is behind its log');
    }
    let waiting: Append[] = [];
    for (const event of events) {
      for (const append of appendsOf(needs, event)) {
        const made = await append;
        if (made !== undefined) waiting.push(made);
        if (waiting.length < APPENDS_MAX) continue;
        await store.append(waiting);
        waiting = [];
      }
    }
    // A conflict says that the delivery is scheduled already.
    if (waiting.length > 0) await store.append(waiting);
    await noteDeletedUsers(transaction, events, needs.clock.now());
  },
});

function* appendsOf(needs: Needs, event: IntegrationEvent) {
  const told = payloadOf(event);
  if (told === undefined) return;
  const matching = needs.index.matching({
    tenantId: event.tenantId,
    event: told.event,
    appId: event.data.context.app_id,
    at: new Date(event.time),
  });
  for (const webhook of matching) yield appendOf(needs, { event, told, webhook });
}

/** Undefined when the user was erased meanwhile. */
async function appendOf(
  needs: Needs,
  of: {
    readonly event: IntegrationEvent;
    readonly told: Told;
    readonly webhook: IndexedWebhook;
  },
): Promise<Append | undefined> {
  const { event, told, webhook } = of;
  const deliveryId = uuidV5(event.id, webhook.id);
  const streamId = streamOf(deliveryId);
  const command = needs.systemCommand(event.tenantId, 'schedule', event.id, webhook.id);
  const subject = told.subject ?? subjectOf(webhook.id);
  const text = bodyOf(told.event, command.now, JSON.stringify(told.data));
  const body = await needs.sealer
    .seal(event.tenantId, { subject, streamId, field: 'body' }, text)
    .catch((error) => {
      if (error instanceof SubjectErased) return undefined;
      throw error;
    });
  if (body === undefined) return undefined;
  const data: DeliveryScheduled['data'] = {
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
  };
  const { traceparent, correlationId } = event;
  const scheduled = {
    id: eventId(command.id, streamId, 0),
    type: 'DeliveryScheduled',
    schemaVersion: 1,
    time: command.now,
    data: data as unknown as JsonObject,
    metadata: {
      ...command.metadata,
      causationId: event.id,
      ...(correlationId === undefined ? {} : { correlationId }),
      ...(traceparent === undefined ? {} : { traceparent }),
    },
  };
  return { streamId, expected: 0, events: [scheduled] };
}
