import { describe, expect, it } from 'vitest';
import { activeKey, addFirstKey, keyrings, type NewKey, published } from '../keyring.ts';
import { announceKey, promoteKey } from './rotate.ts';

const NOW = new Date('2026-03-01T12:00:00.000Z');
const LATER = new Date('2026-03-01T12:05:00.000Z');
const key = (kid: string) =>
  ({ kid, publicJwk: { kid }, private: { subject: `jwk:${kid}`, box: 'x' } }) as unknown as NewKey;
const ringAfter = (
  ...steps: readonly ((ring: typeof keyrings.initial) => { events: readonly never[] })[]
) =>
  steps.reduce((ring, step) => step(ring).events.reduce(keyrings.evolve, ring), keyrings.initial);
const first = (ring: typeof keyrings.initial) => addFirstKey(key('a'), NOW, ring) as never;
const announced = (ring: typeof keyrings.initial) =>
  announceKey(key('b'), { now: NOW, activateAt: LATER }, ring) as never;

describe('a rotation of the signing key', () => {
  it('publishes the new key while the old one still signs', () => {
    const ring = ringAfter(first, announced);
    expect(activeKey(ring)?.kid).toBe('a');
    expect(published(ring)).toEqual([{ kid: 'a' }, { kid: 'b' }]);
  });

  it('lets the new key sign, and keeps the old one published until its tokens have run out', () => {
    const ring = ringAfter(first, announced, (now) => promoteKey('b', LATER, now) as never);
    expect(activeKey(ring)?.kid).toBe('b');
    expect(ring.keys[0]).toMatchObject({
      state: 'retired',
      publishUntil: '2026-03-03T12:05:00.000Z',
    });
  });

  it('announces one key at a time, and promotes none that was not announced', () => {
    expect(
      announceKey(key('c'), { now: NOW, activateAt: LATER }, ringAfter(first, announced)),
    ).toMatchObject({
      accepted: false,
      reason: 'announced_already',
    });
    expect(announceKey(key('c'), { now: NOW, activateAt: LATER }, keyrings.initial)).toMatchObject({
      reason: 'no_active_key',
    });
    expect(promoteKey('a', NOW, ringAfter(first))).toMatchObject({ reason: 'not_pending' });
  });
});
