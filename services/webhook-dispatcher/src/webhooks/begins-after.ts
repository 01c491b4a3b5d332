/** Decides which events are older than a webhook, by their positions in the logs of their services. */
import type { IntegrationEvent, ServiceName } from '@cardea/contracts';
import type { EventStore } from '@cardea/event-store';
import type { Database } from '@cardea/read-models';
import type { BeginsAfter } from './webhook.ts';

/** The services whose events webhooks can subscribe to. */
const SOURCES: readonly ServiceName[] = ['identity', 'vault', 'approval'];

export async function beginsAfterNow(needs: {
  readonly store: Pick<EventStore, 'head'>;
  readonly database: Pick<Database, 'system'>;
}): Promise<BeginsAfter> {
  const [epoch, ...heads] = await Promise.all([
    needs.database.system.query<{ epoch: string }>('SELECT epoch FROM bus.log_epoch'),
    ...SOURCES.map((source) => needs.store.head(source)),
  ]);
  return {
    epoch: epoch.rows[0]?.epoch ?? '',
    positions: Object.fromEntries(SOURCES.map((source, at) => [source, String(heads[at] ?? 0n)])),
  };
}

/** Returns false if it is unknown. A consumer reads forward, so what it reads is newer than an old webhook. */
export function isOlder(
  { source, position, logEpoch }: Pick<IntegrationEvent, 'source' | 'position' | 'logEpoch'>,
  beginsAfter: BeginsAfter | null,
): boolean {
  const end = beginsAfter?.epoch === logEpoch ? beginsAfter?.positions[source] : undefined;
  return end !== undefined && BigInt(position) <= BigInt(end);
}
