import type { Capability } from '@cardea/auth';
import { describe, expect, it } from 'vitest';
import type { Facts } from '../../identity-facts/fact-rows.ts';
import type { ServiceRecord } from '../../services/service.ts';
import {
  currentVersions,
  deniedByNews,
  deniedForGood,
  firstEnd,
  type Wanted,
} from './authority.ts';

const ISSUED_AT_S = 1_800_000_000;
const at = (seconds: number) => new Date((ISSUED_AT_S + seconds) * 1000);
const version = (stage: 'current' | 'pending') => ({
  version: 1,
  secret_id: 's',
  stage,
  created_at: '',
  created_by: '',
});
const field = (name: string, stage: 'current' | 'pending') => ({
  name,
  description: null,
  last_version: 1,
  versions: [version(stage)],
});
const service = {
  name: 'db',
  fields: [field('password', 'current'), field('user', 'pending')],
} as unknown as ServiceRecord;
const capability = {
  issuedAt: ISSUED_AT_S,
  grants: [
    { service: 'db', fields: ['password', 'user', 'gone'] },
    { service: 'other', fields: ['token'] },
  ],
} as unknown as Capability;
const wanted = (fields: readonly string[], userRevoked = false): Wanted => ({
  service,
  fields,
  capability,
  userRevoked,
  now: at(60),
});
const facts = (more: Partial<Facts> = {}): Facts => ({
  session: undefined,
  tokenEpoch: undefined,
  agent: undefined,
  userStatus: undefined,
  ...more,
});
const agent = (seconds: number | 'now', ...fields: readonly string[]) => ({
  agent: {
    services: [{ service_name: 'db', fields }],
    changed_at: seconds === 'now' ? ('now' as const) : at(seconds),
    owner_user_id: null,
  },
});

describe('the scope of a vend', () => {
  it('is what the token grants and the service has', () => {
    expect(deniedForGood(wanted(['password', 'user']))).toEqual([]);
    expect(deniedForGood(wanted(['password', 'token', 'gone']))).toEqual(['token', 'gone']);
    expect(deniedForGood(wanted(['password'], true))).toEqual(['password']);
  });

  it('is narrowed by an agent that changed in the second of the token or later', () => {
    const ask = wanted(['password', 'user']);
    expect(deniedByNews(ask, facts(agent(-1, 'password')))).toEqual([]);
    expect(deniedByNews(ask, facts(agent(0, 'password')))).toEqual(['user']);
    expect(deniedByNews(ask, facts(agent(0.9, '*')))).toEqual([]);
    expect(deniedByNews(ask, facts(agent(5)))).toEqual(['password', 'user']);
    expect(deniedByNews(ask, facts(agent('now', 'user')))).toEqual(['password']);
  });

  it('approval 31 is what an approval gave until its time is over, however old the row of the agent is', () => {
    const given = (seconds: number | 'now', until: number, ...lasting: readonly string[]) => {
      const { agent: row } = agent(seconds, ...lasting);
      const timed = { service_name: 'db', fields: ['user'], until: at(until).toISOString() };
      return facts({ agent: { ...row, services: [...row.services, timed] } });
    };
    const ask = wanted(['user']);
    for (const seconds of [-1, 5, 'now'] as const) {
      expect(deniedByNews(ask, given(seconds, 61))).toEqual([]);
      expect(deniedByNews(ask, given(seconds, 60))).toEqual(['user']);
      expect(deniedByNews(ask, given(seconds, 60, 'user'))).toEqual([]);
    }
    const both = { service, fields: ['password', 'user'] };
    expect(firstEnd(both, given(5, 61, 'password'))).toEqual(at(61));
    expect(firstEnd(both, given(5, 61, '*'))).toBeUndefined();
    expect(firstEnd(both, facts())).toBeUndefined();
  });

  it('is nothing once the user of the session is disabled or gone', () => {
    for (const userStatus of ['disabled', 'deleted']) {
      expect(deniedByNews(wanted(['password']), facts({ userStatus }))).toEqual(['password']);
    }
    expect(deniedByNews(wanted(['password']), facts({ userStatus: 'active' }))).toEqual([]);
  });

  it('hands out current versions only', () => {
    expect(currentVersions(service, ['password'])).toEqual({
      set: [{ name: 'password', version: 1, secret_id: 's' }],
    });
    expect(currentVersions(service, ['password', 'user'])).toEqual({ unset: ['user'] });
  });
});
