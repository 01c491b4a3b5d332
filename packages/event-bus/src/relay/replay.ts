/**
 * Publishes again what was relayed already, under the ids and positions that it had: for a reader that
 * lost it, or a topic that forgot it. Whoever counts positions takes it for the repeat that it is; streams
 * that are parked stay where they stopped.
 */
import { topicOf } from '@cardea/contracts';
import type { RecordedEvent } from '@cardea/event-store';
import { parkedPositions } from '@cardea/log-follower';
import type { RelayDefinition } from '../bus.ts';
import { integrationEventsOf } from './integration-events-of.ts';
import { relayCheckpoint } from './relay-checkpoint.ts';
import type { RelayDependencies } from './relay-dependencies.ts';

export type ReplayDependencies = Pick<
  RelayDependencies,
  'bus' | 'database' | 'kindOf' | 'publisher' | 'schema' | 'sealer' | 'store'
>;

const PAGE_EVENTS = 500;

/** From this position on, up to where the relay stands when it begins; `onPage` gets each page's last position. */
export async function replayLog(
  { log, map }: RelayDefinition,
  needs: ReplayDependencies,
  of: {
    readonly from: bigint;
    readonly signal: AbortSignal;
    readonly onPage: (position: bigint, published: number) => void;
  },
): Promise<{ readonly published: number; readonly through: bigint }> {
  const { bus, database, schema, publisher, store } = needs;
  const { position: end, logEpoch } = await relayCheckpoint(bus, log).load();
  const parked = await parkedPositions(database.system, {
    schema,
    owner: `relay:${log}`,
  });
  const mapEvent = integrationEventsOf({ ...needs, map, logEpoch });
  const isSent = ({ streamId, position }: RecordedEvent): boolean => {
    const stoppedAt = parked.get(streamId);
    return stoppedAt === undefined || position < stoppedAt;
  };
  let through = of.from > 0n ? of.from - 1n : 0n;
  let published = 0;
  while (through < end && !of.signal.aborted) {
    const page = await store.readLog(log, through, PAGE_EVENTS);
    const events = page.filter(({ position }) => position <= end);
    const outgoing = [];
    for (const event of events.filter(isSent)) outgoing.push(...(await mapEvent(event)));
    if (outgoing.length > 0) await publisher.publish(topicOf(log), outgoing);
    published += outgoing.length;
    through = events.at(-1)?.position ?? end;
    of.onPage(through, published);
  }
  return { published, through };
}
