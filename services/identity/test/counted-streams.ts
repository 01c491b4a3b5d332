/** The streams of one process in memory, with a list of the store calls since the last query. */
import { randomUUID } from 'node:crypto';
import { inMemorySubjectKeys, type Sealer, sealer, wrapKeys } from '@cardea/crypto';
import { type Command, type Streams, streams } from '@cardea/event-store';
import { fakeClock, secret } from '@cardea/runtime';
import { inMemoryEventStore, inMemoryLogs } from '@cardea/testing';

export const TENANT = 'acme';
export const clock = fakeClock(new Date(0));

/** Processes with the same logs act as replicas. */
export function countedStreams(logs = inMemoryLogs()): {
  readonly streams: Streams;
  /** For example `read mailbox`. */
  readonly taken: () => readonly string[];
} {
  const store = inMemoryEventStore('identity', logs);
  let asked: string[] = [];
  const note = (what: string, of: readonly { readonly streamId: string }[]) => {
    asked.push(...of.map(({ streamId }) => `${what} ${streamId.split('-')[0]}`));
  };
  const own = streams({
    ...store,
    readStreams: (reads) => {
      note('read', reads);
      return store.readStreams(reads);
    },
    append: (appends) => {
      note('append', appends);
      return store.append(appends);
    },
  });
  const taken = () => {
    const before = asked;
    asked = [];
    return before;
  };
  return { streams: own, taken };
}

/** `read` is called with each subject whose key is read from the table. */
export function testSealer(
  read: (subject: string) => void = () => undefined,
  keyTable = inMemorySubjectKeys(),
): Sealer {
  const settings = {
    ENCRYPTION_KEY: secret('aa11'.repeat(16)),
    ENCRYPTION_KEY_PREVIOUS: undefined,
  };
  const keys = wrapKeys(settings, 'subject-wrap/v1');
  const table = {
    ...keyTable,
    read: (subject: string) => {
      read(subject);
      return keyTable.read(subject);
    },
  };
  return sealer({ table, clock, keys });
}

export const newCommand = (): Command => ({
  id: randomUUID(),
  now: clock.now(),
  metadata: { tenantId: TENANT, actor: { type: 'system', id: 'test' } },
});
