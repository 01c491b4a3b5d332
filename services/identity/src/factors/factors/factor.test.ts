import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { type UserEvent, users } from '../../accounts/accounts.module.ts';
import { addFactor, FACTORS_MAX } from './add-factor.ts';
import { type FactorEvent, factors, type RecoveryFacts, type TotpFacts } from './factor.ts';
import {
  drawRecoveryCodes,
  enrolRecoveryCodes,
  printRecoveryCode,
  readRecoveryCode,
  setRecoveryCodes,
  useRecoveryCode,
} from './recovery-codes/recovery-codes.ts';
import { removeFactor } from './remove/remove.ts';
import { confirmTotp, ENROLMENT_MS, enrolTotp, useTotp } from './totp/totp.ts';

const now = new Date('2026-01-01T10:00:00Z');
const at = now.toISOString();
const sealed = (box: string) => ({ subject: 'user:ann', box });
const totp: TotpFacts = {
  ...{ id: 'f1', user_id: 'ann', type: 'totp', name: null, secret: sealed('secret') },
  ...{ last_step: -1, enrolled_at: at, last_used_at: null },
};
const enrolled: FactorEvent = { type: 'FactorEnrolled', data: totp };
const usedAt = (last_step: number): FactorEvent => ({
  type: 'FactorUsed',
  data: { ...totp, last_step, last_used_at: at },
});
const using = (step: number | null, ...before: readonly FactorEvent[]) =>
  given(factors, ...before).when((factor) => useTotp({ userId: 'ann', step, now }, factor));

describe('an authenticator app', () => {
  it('is enrolled with its secret, once', () => {
    const enrol = { id: 'f1', userId: 'ann', name: null, secret: sealed('secret'), now };
    given(factors)
      .when((factor) => enrolTotp(enrol, factor))
      .accepts(enrolled);
    given(factors, enrolled)
      .when((factor) => enrolTotp(enrol, factor))
      .refuses('already_created');
  });

  it('identity 11 shows a code that counts once, and no earlier one after it', () => {
    using(7, enrolled).accepts(usedAt(7));
    using(8, enrolled, usedAt(7)).accepts(usedAt(8));
    using(7, enrolled, usedAt(7)).refuses('used');
    using(6, enrolled, usedAt(7)).refuses('used');
    using(null, enrolled).refuses('wrong');
  });

  it('is nothing to anybody else', () => {
    const eves = { userId: 'eve', step: 7, now };
    given(factors, enrolled)
      .when((factor) => useTotp(eves, factor))
      .refuses('not_found');
    given(factors, enrolled)
      .when((factor) => confirmTotp(eves, factor))
      .refuses('not_found');
  });

  it('waits ten minutes for its first code', () => {
    const confirming = (ageMs: number) =>
      given(factors, enrolled).when((factor) =>
        confirmTotp({ userId: 'ann', step: 7, now: new Date(now.getTime() + ageMs) }, factor),
      );
    confirming(ENROLMENT_MS).refuses('expired');
    expect(confirming(ENROLMENT_MS - 1).state).toMatchObject({ last_step: 7 });
  });
});

describe('recovery codes', () => {
  const codes: RecoveryFacts = {
    ...{ id: 'r1', user_id: 'ann', type: 'recovery', name: null, code_hashes: ['h1', 'h2'] },
    ...{ enrolled_at: at, last_used_at: null },
  };
  const made: FactorEvent = { type: 'FactorEnrolled', data: codes };
  const use = (hash: string, userId = 'ann', ...more: readonly FactorEvent[]) =>
    given(factors, made, ...more).when((factor) => useRecoveryCode({ userId, hash, now }, factor));

  it('are ten of ten characters, read as people type them', () => {
    let drawings = 0;
    const random = {
      bytes: (length: number) => {
        drawings += 1;
        return Buffer.alloc(length, drawings * 17);
      },
    };
    const drawn = drawRecoveryCodes(random);
    expect([drawn.length, new Set(drawn).size]).toEqual([10, 10]);
    const [code = ''] = drawn;
    expect(printRecoveryCode(code)).toMatch(/^[0-9A-Z]{5}-[0-9A-Z]{5}$/);
    expect(readRecoveryCode(` ${printRecoveryCode(code).toLowerCase()} `)).toBe(code);
    for (const typed of ['', 'ABCDE-FGH', 'ABCDE-FGHJKM', 'ABCDE-FGH.K'])
      expect(readRecoveryCode(typed)).toBeUndefined();
  });

  it('identity 11 work once each, for their user', () => {
    const enrol = { id: 'r1', userId: 'ann', hashes: ['h1', 'h2'], now };
    given(factors)
      .when((factor) => enrolRecoveryCodes(enrol, factor))
      .accepts(made);
    const used: FactorEvent = {
      type: 'FactorUsed',
      data: { ...codes, code_hashes: ['h2'], last_used_at: at },
    };
    use('h1').accepts(used);
    use('h1', 'ann', used).refuses('wrong');
    use('h1', 'eve').refuses('not_found');
    given(factors, enrolled)
      .when((factor) => useRecoveryCode({ userId: 'ann', hash: 'h1', now }, factor))
      .refuses('not_found');
  });
});

describe('the second factors of an account', () => {
  const registered: UserEvent = {
    type: 'UserRegistered',
    data: {
      ...{ id: 'ann', email: sealed('email'), email_hash: 'h', email_verified: true },
      ...{ display_name: null, avatar_url: null, roles: ['member'], via: 'register' },
      ...{ vouched: false, request_hash: null, created_at: at },
    },
  };
  const disabled: UserEvent = { type: 'UserDisabled', data: { id: 'ann', epoch: 1, at } };
  const added = (factor_id: string): UserEvent => ({
    type: 'FactorAdded',
    data: { id: 'ann', factor_id, factor_type: 'totp', at },
  });
  const codesSet = (factor_id: string): UserEvent => ({
    type: 'RecoveryCodesSet',
    data: { id: 'ann', factor_id, at },
  });
  const removed = (factor_id: string, mfa_enabled: boolean): UserEvent => ({
    type: 'FactorRemoved',
    data: { id: 'ann', factor_id, factor_type: 'totp', mfa_enabled, at },
  });
  const adding = (id: string, ...before: readonly UserEvent[]) =>
    given(users, registered, ...before).when((user) =>
      addFactor({ factor: { id, type: 'totp' }, recoveryId: 'r1', now }, user),
    );
  const removing = (factorId: string, isRequired: boolean, ...before: readonly UserEvent[]) =>
    given(users, registered, ...before).when((user) =>
      removeFactor({ factorId, isRequired, now }, user),
    );

  it('are added with the codes that were drawn, each once, ten at most', () => {
    adding('f1').accepts(added('f1'), codesSet('r1'));
    adding('f1', added('f1')).refuses('not_found');
    const many = Array.from({ length: FACTORS_MAX }, (_, index) => added(`f${index}`));
    adding('more', ...many).refuses('too_many_factors');
    adding('f1', disabled).refuses('not_found');
  });

  it('are removed one by one, and with the last one the codes', () => {
    const both = [added('f1'), codesSet('r1'), added('f2')];
    removing('f1', false, ...both).accepts(removed('f1', true));
    const last = removing('f2', false, ...both, removed('f1', true));
    last.accepts(removed('f2', false));
    expect(last.state).toMatchObject({ secondFactors: { factors: [], recoveryId: null } });
    removing('f3', false, ...both).refuses('not_found');
  });

  it('are never none where the tenant demands one', () => {
    removing('f1', true, added('f1')).refuses('mfa_required_by_policy');
    removing('f1', true, added('f1'), added('f2')).accepts(removed('f1', true));
  });

  it('are never all that somebody without a password signs in by', () => {
    const passkey = (factor_id: string): UserEvent => ({
      type: 'FactorAdded',
      data: { id: 'ann', factor_id, factor_type: 'passkey', at },
    });
    const password: UserEvent = {
      type: 'PasswordSet',
      data: { id: 'ann', hash: sealed('hash'), by: 'created', epoch: 0, keep_sid: null, at },
    };
    removing('p1', false, passkey('p1'), added('f1')).refuses('last_credential');
    expect(removing('p1', false, passkey('p1'), passkey('p2')).state).toMatchObject({
      secondFactors: { factors: [{ id: 'p2' }] },
    });
    expect(removing('p1', false, password, passkey('p1')).state).toMatchObject({
      secondFactors: { factors: [] },
    });
  });

  it('have recovery codes only beside another one; new codes take the place of the old', () => {
    const renewing = (...before: readonly UserEvent[]) =>
      given(users, registered, ...before).when((user) =>
        setRecoveryCodes({ recoveryId: 'r2', now }, user),
      );
    renewing().refuses('no_second_factor');
    const renewed = renewing(added('f1'), codesSet('r1'));
    renewed.accepts(codesSet('r2'));
    expect(renewed.state).toMatchObject({ secondFactors: { recoveryId: 'r2' } });
  });
});
