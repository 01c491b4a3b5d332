/**
 * Sends the events of parked streams as far as they can be mapped now. They are marked as released, so that consumers
 * do not take them for repeats.
 */
import type { IntegrationEvent } from '@cardea/contracts';
import { type RecordedEvent, streamPages } from '@cardea/event-store';
import { type Checkpoint, isOutage } from '@cardea/log-follower';
import { errorCode } from '@cardea/runtime';
import type { integrationEventsOf } from './integration-events-of.ts';
import type { ParkedPlaces, Stop } from './parked-places.ts';
import type { RelayDependencies } from './relay-dependencies.ts';

export type Retrying = {
  readonly needs: RelayDependencies;
  readonly topic: string;
  readonly parked: ParkedPlaces;
  readonly mapEvent: ReturnType<typeof integrationEventsOf>;
};

/** A failure in one stream leaves that stream parked and does not stop others. Outages are thrown. */
export async function retryParked(checkpoint: Checkpoint, by: Retrying): Promise<void> {
  for (const [streamId, from] of [...checkpoint.parked]) {
    // A crash set the checkpoint back before this stop. It must pass the stop again first, because consumers would take
    // events that are sent unmarked for repeats.
    if (from > checkpoint.position) continue;
    try {
      await retryStream(streamId, { checkpoint, from }, by);
    } catch (error) {
      if (isOutage(error)) throw error;
      const code = errorCode(error);
      by.needs.log.warn({ stream_id: streamId, code }, 'a parked stream could not be tried again');
    }
  }
}

async function retryStream(
  streamId: string,
  { checkpoint, from }: { readonly checkpoint: Checkpoint; readonly from: bigint },
  by: Retrying,
): Promise<void> {
  const { store, publisher } = by.needs;
  const [first] = await store.readLog(store.log, from - 1n, 1);
  if (first?.streamId !== streamId) throw new Error('The log has no such event of this stream.');
  let stopsAt: Stop | undefined;
  for await (const page of streamPages(store, streamId, first.revision)) {
    const waiting = page.filter(({ position }) => position <= checkpoint.position);
    const mapped = await mapUntilStop(waiting, by.mapEvent);
    stopsAt = mapped.stopsAt;
    if (stopsAt?.event.position === from) return;
    const released = mapped.outgoing.map((event) => ({ ...event, released: true as const }));
    await publisher.publish(by.topic, released);
    if (stopsAt !== undefined || waiting.length < page.length) break;
  }
  await by.parked.move(streamId, stopsAt);
  if (stopsAt === undefined) checkpoint.parked.delete(streamId);
  else checkpoint.parked.set(streamId, stopsAt.event.position);
}

async function mapUntilStop(
  events: readonly RecordedEvent[],
  mapEvent: Retrying['mapEvent'],
): Promise<{ readonly outgoing: readonly IntegrationEvent[]; readonly stopsAt?: Stop }> {
  const outgoing: IntegrationEvent[] = [];
  for (const event of events) {
    try {
      outgoing.push(...(await mapEvent(event)));
    } catch (error) {
      if (isOutage(error)) throw error;
      return { outgoing, stopsAt: { event, error } };
    }
  }
  return { outgoing };
}
