import { describe, expect, it } from 'vitest';
import { partsOf } from './save-tables.ts';

const table = { schema: 'eventstore', name: 'events', columns: ['data'], days: [] };

describe('the parts of a saved table', () => {
  it('are one file for a table that is not large', () => {
    expect(partsOf(table, 8192)).toEqual([{ table, file: 'eventstore.events.copy.zst' }]);
  });

  it('are two halves of a large one, of which the second has no end', () => {
    expect(partsOf(table, 9001)).toEqual([
      { table, file: 'eventstore.events.1.copy.zst', blocks: { from: 0, to: 4501 } },
      { table, file: 'eventstore.events.2.copy.zst', blocks: { from: 4501 } },
    ]);
  });
});
