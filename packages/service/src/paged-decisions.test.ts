import {
  accept,
  type Command,
  type Decision,
  refuse,
  type Stream,
  streams,
} from '@cardea/event-store';
import { NotCaughtUp } from '@cardea/log-follower';
import { inMemoryEventStore } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { decideOnRows, type PagedRows } from './paged-decisions.ts';

type Ended = { type: 'Ended'; data: { because: string } };
const things: Stream<'open' | 'ended', Ended> = {
  noun: 'thing',
  initial: 'open',
  evolve: () => 'ended',
};
const command = (id: string): Command => ({
  id: `ended ${id}`,
  now: new Date(0),
  metadata: { tenantId: 'acme', actor: { type: 'system', id: 'test' } },
});
const ending = (id: string) => ({
  id,
  command: command(id),
  decide: (thing: 'open' | 'ended'): Decision<Ended, 'kept'> => {
    if (id.startsWith('kept')) return refuse('kept');
    return thing === 'open' ? accept({ type: 'Ended', data: { because: id } }) : accept();
  },
});

function fixture({ caughtUp = true, ids = ['a', 'b', 'c', 'd', 'e'] } = {}) {
  const store = inMemoryEventStore('identity');
  const waited: unknown[] = [];
  const pages: string[] = [];
  const batches: number[] = [];
  const own = streams(store);
  const needs = {
    positions: {
      reached: async (...wait: unknown[]) => {
        waited.push(wait);
        return caughtUp;
      },
    },
    streams: {
      decideOnMany: ((stream, commands) => {
        batches.push(commands.length);
        return own.decideOnMany(stream, commands);
      }) satisfies typeof own.decideOnMany,
    },
  };
  const rows: PagedRows<string> = {
    projections: ['things'],
    position: 7n,
    waitMs: 20,
    pageRows: 2,
    page: async (after) => {
      pages.push(after);
      return ids.filter((id) => id > after).slice(0, 2);
    },
    keyOf: (id) => id,
    firstKey: '',
  };
  const statusOf = async (id: string) => (await own.load(things, { tenantId: 'acme', id })).state;
  return { needs, rows, store, waited, pages, batches, statusOf };
}

describe('decisions on the rows of a table', () => {
  it('wait for the position, then go page by page, each in one batch', async () => {
    const { needs, rows, waited, pages, batches, statusOf } = fixture();
    await decideOnRows(needs, rows, { stream: things, decisionOn: ending });
    expect(waited).toEqual([[['things'], 7n, 20]]);
    expect(pages).toEqual(['', 'b', 'd']);
    expect(batches).toEqual([2, 2, 1]);
    expect(await Promise.all(['a', 'c', 'e'].map(statusOf))).toEqual(['ended', 'ended', 'ended']);
  });

  it('end with an empty page where the last one was full', async () => {
    const { needs, rows, pages, batches } = fixture({ ids: ['a', 'b'] });
    await decideOnRows(needs, rows, { stream: things, decisionOn: ending });
    expect(pages).toEqual(['', 'b']);
    expect(batches).toEqual([2]);
  });

  it('are not begun while the table lags', async () => {
    const { needs, rows, pages, store } = fixture({ caughtUp: false });
    const decided = decideOnRows(needs, rows, { stream: things, decisionOn: ending });
    await expect(decided).rejects.toThrow(NotCaughtUp);
    expect(pages).toEqual([]);
    expect(await store.head('identity')).toBe(0n);
  });

  it('are told to whoever wants to know; a refused row stops no other', async () => {
    const { needs, rows, statusOf } = fixture({ ids: ['a', 'b', 'kept', 'z'] });
    const heard: unknown[] = [];
    await decideOnRows(needs, rows, {
      stream: things,
      decisionOn: ending,
      onDecided: async (row, { accepted }) => {
        heard.push([row, accepted]);
      },
    });
    expect(heard).toEqual([
      ['a', true],
      ['b', true],
      ['kept', false],
      ['z', true],
    ]);
    expect(await Promise.all(['a', 'b', 'z'].map(statusOf))).toEqual(['ended', 'ended', 'ended']);
  });

  it('that come again append nothing', async () => {
    const { needs, rows, store } = fixture();
    const decide = () => decideOnRows(needs, rows, { stream: things, decisionOn: ending });
    await decide();
    await decide();
    expect(await store.head('identity')).toBe(5n);
  });
});
