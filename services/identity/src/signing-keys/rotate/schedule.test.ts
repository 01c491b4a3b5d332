import { describe, expect, it } from 'vitest';
import { activeKey, addFirstKey, type Keyring, keyrings, type NewKey } from '../keyring.ts';
import { announceKey } from './rotate.ts';
import { isAnnouncementDue, keepSchedule } from './schedule.ts';

const HOUR_MS = 3600_000;
const DAY_MS = 24 * HOUR_MS;
const START = new Date('2026-03-01T12:00:00.000Z');
const later = (ms: number) => new Date(START.getTime() + ms);
const at = (ms: number) => ({ now: later(ms), rotateAfterMs: 90 * DAY_MS });
const key = (kid: string) =>
  ({ kid, publicJwk: { kid }, private: { subject: `jwk:${kid}`, box: 'x' } }) as unknown as NewKey;
const after = (ring: Keyring, { events }: { readonly events: readonly unknown[] }): Keyring =>
  (events as Parameters<typeof keyrings.evolve>[1][]).reduce(keyrings.evolve, ring);
const turn = (ring: Keyring, ms: number, next?: string) =>
  after(ring, keepSchedule(next === undefined ? undefined : key(next), at(ms), ring));
const states = ({ keys }: Keyring) => keys.map(({ kid, state }) => `${kid} ${state}`);
const first = after(keyrings.initial, addFirstKey(key('a'), START, keyrings.initial));

describe('the schedule of the signing keys', () => {
  it('publishes the next key a day before the active one has its age', () => {
    expect(isAnnouncementDue(first, at(89 * DAY_MS - 1))).toBe(false);
    expect(keepSchedule(key('b'), at(89 * DAY_MS - 1), first)).toMatchObject({
      reason: 'nothing_due',
    });
    expect(isAnnouncementDue(first, at(89 * DAY_MS))).toBe(true);
    expect(states(turn(first, 89 * DAY_MS, 'b'))).toEqual(['a active', 'b pending']);
  });

  it('lets it sign a day later, and keeps the one before for 48 hours', () => {
    const announced = turn(first, 89 * DAY_MS, 'b');
    expect(states(turn(announced, 90 * DAY_MS - 1))).toEqual(['a active', 'b pending']);
    const rotated = turn(announced, 90 * DAY_MS);
    expect(states(rotated)).toEqual(['a retired', 'b active']);
    expect(states(turn(rotated, 92 * DAY_MS - 1))).toEqual(['a retired', 'b active']);
    expect(states(turn(rotated, 92 * DAY_MS))).toEqual(['b active']);
  });

  it('publishes a key for a day also where nobody was there in time', () => {
    const late = turn(first, 200 * DAY_MS, 'b');
    expect(states(turn(late, 201 * DAY_MS - 1))).toEqual(['a active', 'b pending']);
    expect(activeKey(turn(late, 201 * DAY_MS))?.kid).toBe('b');
  });

  it('takes a key that was announced by hand as the next one', () => {
    const hand = { now: START, activateAt: later(HOUR_MS) };
    const announced = after(first, announceKey(key('b'), hand, first));
    expect(isAnnouncementDue(announced, at(89 * DAY_MS))).toBe(false);
    expect(states(turn(announced, HOUR_MS))).toEqual(['a retired', 'b active']);
  });

  it('starts nothing where no key signs yet', () => {
    expect(isAnnouncementDue(keyrings.initial, at(90 * DAY_MS))).toBe(false);
  });
});
