import { describe, expect, it } from 'vitest';
import { type Basis, type BasisNow, stands } from './basis.ts';

const whole: Basis = {
  user_epoch: 2,
  sid: 's1',
  consent: { id: 'c', epoch: 1 },
  application: { id: 'a', version: 3 },
};
const now: BasisNow = {
  user: { active: true, epoch: 2, keepSid: null },
  sessionGoesOn: true,
  consentEpoch: 1,
  applicationVersion: 3,
};
const risen = { ...now.user, epoch: 3 };

const ENDS: { readonly [what: string]: Partial<BasisNow> } = {
  'the epoch of its user': { user: risen },
  'its user': { user: { ...now.user, active: false } },
  'its session': { sessionGoesOn: false },
  'its consent': { consentEpoch: null },
  'the consent of its epoch': { consentEpoch: 2 },
  'its application': { applicationVersion: null },
  'this version of its application': { applicationVersion: 4 },
};

describe('a basis', () => {
  it('P3 stands while nothing of it has ended', () => {
    expect(stands(whole, now)).toBe(true);
  });

  it.each(Object.entries(ENDS))('P3 falls with %s', (_what, ended) => {
    expect(stands(whole, { ...now, ...ended })).toBe(false);
  });

  it('P3 outlives an epoch by the session that the user kept, and by no other', () => {
    const kept = { ...now, user: { ...risen, keepSid: 's1' } };
    expect(stands(whole, kept)).toBe(true);
    expect(stands({ ...whole, sid: 's2' }, kept)).toBe(false);
    expect(stands({ user_epoch: 2 }, kept)).toBe(false);
  });

  it('P3 depends on nothing that it does not name', () => {
    const ended = { ...now, sessionGoesOn: false, consentEpoch: null, applicationVersion: null };
    expect(stands({ user_epoch: 2 }, ended)).toBe(true);
    expect(stands({ user_epoch: 2 }, { user: now.user })).toBe(true);
    expect(stands({}, { user: { ...now.user, active: false } })).toBe(true);
  });
});
