/** Event stores of different logins, and the simplest event to append to them. */
import { randomUUID } from 'node:crypto';
import type { ServiceName } from '@cardea/contracts';
import { type EventStore, postgresEventStores } from '@cardea/event-store';

export function loggedInStores() {
  const opened: { close(): Promise<void> }[] = [];
  return {
    as: (connectionString: string, role: string | undefined, log: ServiceName): EventStore => {
      const stores = postgresEventStores({ connectionString, role });
      opened.push(stores);
      return stores.forLog(log);
    },
    close: async (): Promise<void> => {
      for (const each of opened) await each.close();
    },
  };
}

export const appendNote = (store: EventStore, streamId: string, expected: number | 'any') =>
  store.append([
    {
      streamId,
      expected,
      events: [
        {
          id: randomUUID(),
          type: 'Noted',
          schemaVersion: 1,
          time: new Date(),
          data: {},
          metadata: { tenantId: 't', actor: { type: 'system', id: 's' } },
        },
      ],
    },
  ]);
