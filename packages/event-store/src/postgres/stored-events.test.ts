import { expect, it } from 'vitest';
import type { Append, EventMetadata } from '../event-store.ts';
import { storedEvents, written } from './append-batch.ts';

const appendOf = (streamId: string, metadata: EventMetadata): Append => ({
  streamId,
  expected: 0,
  events: [
    { id: streamId, type: 'Noted', schemaVersion: 1, time: new Date(0), data: {}, metadata },
  ],
});

it('prints and reads the metadata of a command once for all its events', () => {
  let printed = 0;
  const metadata = {
    tenantId: 't',
    actor: { type: 'system', id: 'test' },
    toJSON() {
      printed += 1;
      return { tenantId: this.tenantId, actor: this.actor };
    },
  } as const;
  const other = { ...metadata, tenantId: 'u' } as const;
  const appends = [
    written(appendOf('a-1', metadata)),
    written(appendOf('a-2', metadata)),
    written(appendOf('a-3', other)),
  ];
  expect(printed).toBe(2);
  const read = appends.flatMap((append) =>
    storedEvents('authz', [{ append, position: 1n, revision: 1 }]).map((event) => event.metadata),
  );
  expect(read.map(({ tenantId }) => tenantId)).toEqual(['t', 't', 'u']);
  expect(read[1]).toBe(read[0]);
});
