import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fakeClock } from '../clock.ts';
import { FairQueue, FairShares, type GiveBack } from './fair-shares.ts';

const PLACES = 256;

/** Takes places until the tenant gets no more. */
function fill(shares: FairShares, tenantId: string): readonly GiveBack[] {
  const taken: GiveBack[] = [];
  for (let one = shares.take(tenantId); one !== undefined; one = shares.take(tenantId)) {
    taken.push(one);
  }
  return taken;
}

describe('shares of a resource', () => {
  it('C1 gives a single busy tenant a quarter or half of all places', () => {
    expect(fill(new FairShares({ places: PLACES, perFreePlace: 1 / 3 }), 'one')).toHaveLength(64);
    expect(fill(new FairShares({ places: PLACES, perFreePlace: 1 }), 'one')).toHaveLength(128);
    const all = new FairShares({ places: PLACES, perFreePlace: Number.POSITIVE_INFINITY });
    expect(fill(all, 'one')).toHaveLength(PLACES);
  });

  it('C1 keeps a sixteenth of the places free while eight tenants fill their shares', () => {
    const shares = new FairShares({ places: PLACES, perFreePlace: 1 / 3 });
    for (let tenant = 0; tenant < 8; tenant++) fill(shares, `busy-${tenant}`);
    expect(shares.free).toBeGreaterThanOrEqual(PLACES / 16);
    expect(shares.take('calm')).toBeDefined();
  });

  it('lets a tenant without any take the last place', () => {
    const shares = new FairShares({ places: 1, perFreePlace: 1 / 3 });
    const [giveBack] = fill(shares, 'one');
    expect(shares.take('other')).toBeUndefined();
    giveBack?.();
    giveBack?.();
    expect(shares.free).toBe(1);
    expect(shares.take('other')).toBeDefined();
  });

  it('says how many places a tenant can take, whatever was taken before', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.constantFrom(1 / 3, 1, 2, Number.POSITIVE_INFINITY),
        fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 60 }),
        (places, perFreePlace, takers) => {
          const shares = new FairShares({ places, perFreePlace });
          for (const taker of takers) shares.take(`tenant-${taker}`);
          const room = shares.roomOf('tenant-0');
          expect(fill(shares, 'tenant-0')).toHaveLength(room);
          expect(shares.free).toBeGreaterThanOrEqual(0);
        },
      ),
    );
  });
});

describe('a queue for a resource', () => {
  const WAIT_MS = 2_000;
  const form = { places: 1, perFreePlace: Number.POSITIVE_INFINITY, waitingMax: 64 };
  const queueOf = (more: Partial<typeof form> = {}) => {
    const clock = fakeClock('2030-01-01T00:00:00Z');
    return { clock, queue: new FairQueue({ ...form, waitMaxMs: WAIT_MS, ...more }, clock) };
  };

  it('C1 serves tenants in turn: the first caller of a tenant comes before the second of another', async () => {
    const { queue } = queueOf();
    const current = await queue.take('busy');
    const served: string[] = [];
    const waiting = [...Array(10).fill('busy'), 'calm', 'other', 'calm'].map(async (tenantId) => {
      const giveBack = await queue.take(tenantId);
      served.push(tenantId);
      giveBack?.();
    });
    expect(queue.waiting).toBe(13);
    current?.();
    await Promise.all(waiting);
    expect(served.slice(0, 5)).toEqual(['busy', 'calm', 'other', 'busy', 'calm']);
    expect(served).toHaveLength(13);
    expect(queue.waiting).toBe(0);
  });

  it('C1 lets one tenant occupy half of the waiting places, and others still wait', async () => {
    const { queue } = queueOf({ waitingMax: 8 });
    const current = queue.takeNow('busy');
    const crowd = Array.from({ length: 8 }, () => queue.take('busy'));
    expect(await Promise.all(crowd.slice(4))).toEqual(Array(4).fill(undefined));
    const calm = queue.take('calm');
    current?.();
    (await crowd[0])?.();
    expect(await calm).toBeDefined();
  });

  it('gives nothing to a caller that waited too long, and its place in the line to the next', async () => {
    const { queue, clock } = queueOf();
    const current = queue.takeNow('one');
    const late = queue.take('two');
    await clock.advance(WAIT_MS);
    expect(await late).toBeUndefined();
    expect(queue.waiting).toBe(0);
    current?.();
    expect(queue.takeNow('two')).toBeDefined();
  });

  it('C1 lets nobody pass those of the same tenant that wait, nor wait for those of another', async () => {
    const { queue } = queueOf({ places: 4, perFreePlace: 1 });
    const held = [queue.takeNow('busy'), queue.takeNow('busy')];
    expect(held.every((giveBack) => giveBack !== undefined)).toBe(true);
    const waits = queue.take('busy');
    expect(queue.takeNow('busy')).toBeUndefined();
    expect(queue.takeNow('calm')).toBeDefined();
    held[0]?.();
    expect(await waits).toBeDefined();
  });
});
