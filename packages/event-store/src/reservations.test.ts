import { inMemoryEventStore } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import type { Command } from './command.ts';
import { release, reservation, reserve } from './reservations.ts';
import { streams } from './streams.ts';

const MINUTE_MS = 60_000;
const value = { stream: reservation('email'), hash: 'h' };
const command = (id: string, atMs = 0): Command => ({
  id,
  now: new Date(atMs),
  metadata: { tenantId: 'acme', actor: { type: 'system', id: 'sign-up' } },
});
const made = async () => false;
const orphan = async () => true;

describe('a reserved value', () => {
  it('R11 has one holder, of 50 who ask at once', async () => {
    const ours = streams(inMemoryEventStore('identity'));
    const all = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        reserve(ours, value, `user${index}`, { command: command(String(index)), isOrphan: made }),
      ),
    );
    expect(all.filter(({ reserved }) => reserved)).toHaveLength(1);
  });

  it('is held by the same owner however often it asks', async () => {
    const ours = streams(inMemoryEventStore('identity'));
    const by = { command: command('1'), isOrphan: orphan };
    expect(await reserve(ours, value, 'ann', by)).toEqual({ reserved: true });
    expect(await reserve(ours, value, 'ann', by)).toEqual({ reserved: true });
    expect(await reserve(ours, value, 'bob', by)).toEqual({ reserved: false, heldBy: 'ann' });
  });

  it('identity 2 is taken over after a minute from an owner that was never made, and from no other', async () => {
    const ours = streams(inMemoryEventStore('identity'));
    await reserve(ours, value, 'ann', { command: command('1'), isOrphan: made });
    const late = command('2', MINUTE_MS);
    const ask = (isOrphan: () => Promise<boolean>, by = late) =>
      reserve(ours, value, 'bob', { command: by, isOrphan });
    expect(await ask(orphan, command('2', MINUTE_MS - 1))).toMatchObject({ reserved: false });
    expect(await ask(made)).toEqual({ reserved: false, heldBy: 'ann' });
    expect(await ask(orphan)).toEqual({ reserved: true });
    expect(await ask(made)).toEqual({ reserved: true });
  });

  it('can be given back by its holder alone, and reserved again by the same command', async () => {
    const ours = streams(inMemoryEventStore('identity'));
    const by = { command: command('1'), isOrphan: made };
    await reserve(ours, value, 'ann', by);
    await release(ours, value, 'bob', by.command);
    expect(await reserve(ours, value, 'bob', by)).toMatchObject({ reserved: false });
    await release(ours, value, 'ann', by.command);
    expect(await reserve(ours, value, 'ann', by)).toEqual({ reserved: true });
  });
});
