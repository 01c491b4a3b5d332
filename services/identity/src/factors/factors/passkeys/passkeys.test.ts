import { given } from '@cardea/testing';
import { describe, it } from 'vitest';
import { type FactorEvent, factors, type PasskeyFacts } from '../factor.ts';
import { enrolPasskey, renameFactor, usePasskey } from './passkeys.ts';

const now = new Date('2026-01-01T10:00:00Z');
const at = now.toISOString();
const sealed = (box: string) => ({ subject: 'user:ann', box });
const passkey = (counter = 0): PasskeyFacts => ({
  ...{ id: 'p1', user_id: 'ann', name: null, credential: sealed('credential'), counter },
  ...{ device_type: 'singleDevice', backed_up: false, enrolled_at: at, last_used_at: null },
  type: 'passkey',
});
const enrolled = (counter = 0): FactorEvent => ({ type: 'FactorEnrolled', data: passkey(counter) });
const using = (counter: number, before: number, userId = 'ann') =>
  given(factors, enrolled(before)).when((factor) =>
    usePasskey({ userId, counter, backedUp: true, now }, factor),
  );
const used = (counter: number): FactorEvent => ({
  type: 'FactorUsed',
  data: { ...passkey(), counter, backed_up: true, last_used_at: at },
});

describe('a passkey', () => {
  it('is enrolled once', () => {
    const { type: _type, enrolled_at: _at, last_used_at: _used, ...enrol } = passkey(3);
    given(factors)
      .when((factor) => enrolPasskey({ ...enrol, now }, factor))
      .accepts(enrolled(3));
    given(factors, enrolled())
      .when((factor) => enrolPasskey({ ...enrol, now }, factor))
      .refuses('already_created');
  });

  it('identity 11 is refused once its counter went back or stood still', () => {
    using(6, 5).accepts(used(6));
    using(5, 5).refuses('copied');
    using(4, 5).refuses('copied');
  });

  it('without a counter is taken as it is', () => {
    using(0, 0).accepts(used(0));
    using(1, 0).accepts(used(1));
    using(0, 5).accepts(used(0));
  });

  it('is used and renamed by its owner alone', () => {
    using(1, 0, 'eve').refuses('not_found');
    const rename = (userId: string) =>
      given(factors, enrolled()).when((factor) =>
        renameFactor({ userId, name: sealed('name') }, factor),
      );
    rename('ann').accepts({
      type: 'FactorRenamed',
      data: { ...passkey(), name: sealed('name') },
    });
    rename('eve').refuses('not_found');
  });
});
