import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { type DeputyChanged, deputies, presentDeputy } from './deputy.ts';
import { removeDeputy, removeWithPerson } from './remove/remove.ts';
import { setDeputy } from './set/set.ts';

const START = Date.parse('2026-01-01T10:00:00.000Z');
const at = (hours: number) => new Date(START + hours * 3_600_000);
const iso = (hours: number) => at(hours).toISOString();
const changed = (
  deputy: string | null,
  more: Partial<DeputyChanged['data']> = {},
): DeputyChanged => ({
  type: 'DeputyChanged',
  data: {
    user_id: 'ann',
    deputy,
    from: deputy === null ? null : iso(0),
    until: deputy === null ? null : iso(24),
    before: null,
    ...more,
  },
});
const set = (deputy: string, hours: number, until = 24) => ({
  userId: 'ann',
  deputyship: { deputy, from: iso(hours), until: iso(until) },
  now: at(hours),
});

describe('approval 28 a deputy', () => {
  it('is named, and replaced by another one, which both are told', () => {
    given(deputies)
      .when((state) => setDeputy(set('bob', 0), state))
      .accepts(changed('bob'));
    given(deputies, changed('bob'))
      .when((state) => setDeputy(set('cid', 1), state))
      .accepts(changed('cid', { from: iso(1), before: 'bob' }));
  });

  it('is the same where it is named again while it decides', () => {
    const named = given(deputies, changed('bob'));
    named.when((state) => setDeputy(set('bob', 5), state)).accepts();
    named
      .when((state) => setDeputy(set('bob', 5, 48), state))
      .accepts(changed('bob', { from: iso(5), until: iso(48), before: 'bob' }));
  });

  it('is removed until its time is over, and not twice', () => {
    const named = given(deputies, changed('bob'));
    const by = (hours: number) => ({ userId: 'ann', now: at(hours) });
    named
      .when((state) => removeDeputy(by(23.999), state))
      .accepts(changed(null, { before: 'bob' }));
    named.when((state) => removeDeputy(by(24), state)).refuses('deputy_not_found');
    given(deputies, changed('bob'), changed(null))
      .when((state) => removeDeputy(by(1), state))
      .refuses('deputy_not_found');
    expect(presentDeputy(named.state, at(24))).toBeUndefined();
    expect(presentDeputy(named.state, at(23.999))).toMatchObject({ deputy: 'bob' });
  });

  it('goes with either of the two, and not with a deputy of before', () => {
    const named = given(deputies, changed('bob'));
    const gone = (goneId: string) => ({ userId: 'ann', goneId });
    for (const id of ['ann', 'bob']) {
      named
        .when((state) => removeWithPerson(gone(id), state))
        .accepts(changed(null, { before: 'bob' }));
    }
    named.when((state) => removeWithPerson(gone('cid'), state)).accepts();
  });
});
