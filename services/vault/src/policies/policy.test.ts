import { given } from '@cardea/testing';
import { describe, it } from 'vitest';
import { addPolicy } from './add/add.ts';
import { changePolicy } from './change/change.ts';
import {
  POLICIES_MAX,
  type Policy,
  type PolicyEvent,
  type PolicyTerms,
  policySets,
} from './policy.ts';
import { removePolicy } from './remove/remove.ts';

const START = new Date('2026-01-01T12:00:00.000Z');
const LATER = new Date('2026-01-01T13:00:00.000Z');
const terms: PolicyTerms = {
  name: 'production',
  service_name: 'db',
  fields: ['password'],
  agent_ids: '*',
  effect: 'require_approval',
  approver: 'session_user',
  approver_vouched: true,
  severity: 'high',
  ttl_seconds: 300,
  use_window_seconds: 60,
  max_auth_age_seconds: null,
  number_match: false,
  enabled: true,
};
const policy = (id: string): Policy => ({
  id,
  version: 1,
  ...terms,
  created_at: START.toISOString(),
  updated_at: START.toISOString(),
  request_hash: null,
});
const added = (...ids: readonly string[]): PolicyEvent => ({
  type: 'PolicyAdded',
  data: { policy: policy(ids.at(-1) ?? ''), policies: ids.map(policy) },
});
const add = (id: string) => ({ id, terms, request_hash: null, now: START });

describe('adding a policy', () => {
  it('carries the whole set after it, in the order in which they were made', () => {
    given(policySets, added('a'))
      .when((set) => addPolicy(add('b'), set))
      .accepts(added('a', 'b'));
  });

  it('is done once where the request is repeated', () => {
    given(policySets, added('a'))
      .when((set) => addPolicy(add('a'), set))
      .accepts();
  });

  it('ends at the most that a tenant may have, which a repeat does not count against', () => {
    const full = added(...Array.from({ length: POLICIES_MAX }, (_, at) => `${at}`));
    given(policySets, full)
      .when((set) => addPolicy(add('more'), set))
      .refuses('too_many_policies');
    given(policySets, full)
      .when((set) => addPolicy(add('0'), set))
      .accepts();
  });
});

describe('changing a policy', () => {
  it('makes another version of it, and leaves the others alone', () => {
    const changed = {
      ...policy('b'),
      enabled: false,
      version: 2,
      updated_at: LATER.toISOString(),
    };
    given(policySets, added('a', 'b'))
      .when((set) => changePolicy({ id: 'b', terms: { enabled: false }, now: LATER }, set))
      .accepts({
        type: 'PolicyChanged',
        data: { policy: changed, policies: [policy('a'), changed] },
      });
  });

  it('keeps the version where nothing is another, so that grants under it stay good', () => {
    given(policySets, added('a'))
      .when((set) => changePolicy({ id: 'a', terms: { fields: ['password'] }, now: LATER }, set))
      .accepts();
  });

  it('is refused where there is none', () => {
    given(policySets, added('a'))
      .when((set) => changePolicy({ id: 'b', terms: {}, now: LATER }, set))
      .refuses('policy_not_found');
  });
});

describe('removing a policy', () => {
  it('leaves the others, and is refused the second time', () => {
    const removed: PolicyEvent = {
      type: 'PolicyRemoved',
      data: { policy: policy('a'), policies: [policy('b')] },
    };
    given(policySets, added('a', 'b'))
      .when((set) => removePolicy('a', set))
      .accepts(removed);
    given(policySets, added('a', 'b'), removed)
      .when((set) => removePolicy('a', set))
      .refuses('policy_not_found');
  });
});
