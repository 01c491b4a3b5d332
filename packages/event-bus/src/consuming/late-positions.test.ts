import { fakeClock } from '@cardea/runtime';
import { silentLogger } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { latePositions, type Moved } from './late-positions.ts';

const at = (partition: number, offset: bigint, position: bigint): Moved => ({
  ...{ topic: 't', partition, offset, position, part: 0 },
});

function late(store: (moved: readonly Moved[]) => Promise<void> = async () => {}) {
  const clock = fakeClock('2031-01-01T00:00:00Z');
  const stored: (readonly Moved[])[] = [];
  const positions = latePositions({
    clock,
    log: silentLogger,
    store: async (moved) => {
      await store(moved);
      stored.push(moved);
    },
  });
  return { clock, stored, positions };
}

describe('late positions', () => {
  it('are stored a second after the first of them, all in one statement', async () => {
    const { clock, stored, positions } = late();
    positions.pass([at(0, 1n, 10n)]);
    await clock.advance(600);
    positions.pass([at(0, 3n, 12n), at(1, 0n, 11n)]);
    await clock.advance(399);
    expect(stored).toEqual([]);
    await clock.advance(1);
    expect(stored).toEqual([[at(0, 3n, 12n), at(1, 0n, 11n)]]);
    await clock.advance(10_000);
    expect(stored).toHaveLength(1);
  });

  it('only rise, the offset and the position each for itself', () => {
    const { positions } = late();
    positions.pass([at(0, 5n, 10n)]);
    positions.pass([at(0, 4n, 12n)]);
    positions.pass([at(0, 6n, 0n)]);
    expect(positions.waiting).toEqual([at(0, 6n, 12n)]);
  });

  it('are not stored again where an effect has taken them along', async () => {
    const { clock, stored, positions } = late();
    positions.pass([at(0, 1n, 10n), at(1, 1n, 10n)]);
    const taken = positions.waiting;
    positions.pass([at(1, 2n, 11n)]); // This happens after the statement of the effect was made.
    positions.stored(taken);
    await clock.advance(1000);
    expect(stored).toEqual([[at(1, 2n, 11n)]]);
  });

  it('are kept and tried again when they could not be stored', async () => {
    let isAway = true;
    const { clock, stored, positions } = late(async () => {
      if (isAway) throw new Error('away');
    });
    positions.pass([at(0, 1n, 10n)]);
    await clock.advance(1000);
    isAway = false;
    await clock.advance(1000);
    expect(stored).toEqual([[at(0, 1n, 10n)]]);
  });

  it('are stored at once when a partition is given up', async () => {
    const { clock, stored, positions } = late();
    positions.pass([at(0, 1n, 10n)]);
    await positions.flush();
    expect(stored).toEqual([[at(0, 1n, 10n)]]);
    expect(clock.sleepers).toBe(0);
  });
});
