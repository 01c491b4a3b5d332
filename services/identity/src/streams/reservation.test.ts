import { describe, expect, it } from 'vitest';
import { doubtedOwner, emailReservations, release, reserve } from './reservation.ts';

const at = (time: string) => new Date(`2026-01-01T${time}Z`);
const { evolve, initial } = emailReservations;
const held = reserve({ ownerId: 'ann', now: at('10:00:00') }, initial).events.reduce(
  evolve,
  initial,
);

describe('a reservation', () => {
  it('has one holder, who may ask again', () => {
    expect(reserve({ ownerId: 'bob', now: at('10:00:01') }, held)).toMatchObject({
      reason: 'taken',
    });
    expect(reserve({ ownerId: 'ann', now: at('10:00:01') }, held)).toEqual({
      accepted: true,
      events: [],
    });
  });

  it('identity 2 is doubted a minute after, and given away when its holder never came', () => {
    expect(doubtedOwner(held, at('10:00:59'))).toBeUndefined();
    expect(doubtedOwner(held, at('10:01:00'))).toBe('ann');
    const taken = reserve({ ownerId: 'bob', now: at('10:01:00'), orphan: 'ann' }, held);
    expect(taken.events).toMatchObject([{ type: 'Reserved', data: { owner_id: 'bob' } }]);
  });

  it('is given back by its holder alone', () => {
    expect(release('bob', held).events).toEqual([]);
    expect(release('ann', held).events.reduce(evolve, held)).toEqual({ status: 'free' });
  });
});
