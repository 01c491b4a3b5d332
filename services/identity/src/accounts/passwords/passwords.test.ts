import { fakeClock } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { argon2 } from '../../adapters/argon2.ts';
import { strengthOf } from '../../adapters/password-strength.ts';
import { hashPermits } from './hash-permits.ts';
import { passwordFault, passwords } from './passwords.ts';

const policy = {
  min: 8,
  common: 'allow',
  zxcvbn_score: null,
  breach_check: false,
  history: 0,
} as const;
const emoji = (count: number) => '😀'.repeat(count);

describe('a password', () => {
  it.each([
    { length: 7, fault: 'password_too_short' },
    { length: 8, fault: undefined },
    { length: 128, fault: undefined },
    { length: 129, fault: 'password_too_long' },
  ])('identity 1 of $length emoji is judged by its characters', ({ length, fault }) => {
    expect(passwordFault(emoji(length), policy)).toBe(fault);
  });

  it('is refused where it is common, in the tenants alone that refuse it', () => {
    for (const password of ['password', 'Password1', 'ILOVEYOU']) {
      expect(passwordFault(password, policy)).toBeUndefined();
      expect(passwordFault(password, { ...policy, common: 'refuse' })).toBe('password_too_weak');
    }
    expect(passwordFault('dragon', { ...policy, common: 'refuse' })).toBe('password_too_short');
    expect(passwordFault('dragon boat at noon', { ...policy, common: 'refuse' })).toBeUndefined();
  });

  it('C3 is as hard to guess as its tenant asks, which a thread of its own estimates', async () => {
    const hard = { ...policy, zxcvbn_score: 3 } as const;
    const objection = (password: string, of: typeof policy | typeof hard = hard) =>
      cheap().objectionTo(password, of, 'acme');
    let turns = 0;
    const counting = setInterval(() => {
      turns += 1;
    }, 0);
    expect(await objection('qwertyuiop')).toBe('password_too_weak');
    clearInterval(counting);
    // Loading the dictionaries alone would block the event loop for longer than several turns.
    expect(turns).toBeGreaterThan(2);
    expect(await objection('qwertyuiop', policy)).toBeUndefined();
    expect(await objection('dragon boat at noon')).toBeUndefined();
    expect(await objection('x'.repeat(128))).toBe('password_too_weak');
  });

  it('is as long as its tenant asks', () => {
    expect(passwordFault('a'.repeat(63), { ...policy, min: 64 })).toBe('password_too_short');
    expect(passwordFault('a'.repeat(64), { ...policy, min: 64 })).toBeUndefined();
  });

  it('is measured in its composed form', () => {
    expect(passwordFault('e\u0301'.repeat(7), policy)).toBe('password_too_short');
  });

  it('is the same however its accents were typed', async () => {
    const kept = cheap();
    const phc = await kept.hash('cafe\u0301 au lait', 'acme');
    expect(await kept.verify(phc, 'caf\u00e9 au lait', 'acme')).toEqual({ right: true });
    expect(await kept.verify(phc, 'cafe au lait', 'acme')).toEqual({ right: false });
  });

  it('is hashed once more when the parameters have changed', async () => {
    const phc = await cheap().hash('correct horse', 'acme');
    const { right, rehashed = '' } = await cheap(2).verify(phc, 'correct horse', 'acme');
    expect(right).toBe(true);
    expect(rehashed).toContain('t=2');
    expect(await cheap(2).verify(phc, 'wrong horse', 'acme')).toEqual({ right: false });
  });

  it.each(['', 'nonsense', '$argon2id$v=19$m=9999999,t=2,p=1$c2FsdHNhbHQ$aGFzaA'])(
    'is never right against the broken or immoderate hash "%s"',
    async (phc) => {
      expect(await cheap().verify(phc, 'correct horse', 'acme')).toEqual({ right: false });
    },
  );
});

const cheap = (time = 1) =>
  passwords({
    own: argon2({ memoryKib: 64, time }),
    permits: hashPermits(1, fakeClock('2026-01-01T00:00:00Z')),
    floor: {
      hold: (_tenantId, work) => work(),
      timed: (_cost, verify) => verify(),
      note: async () => {},
    },
    breached: async () => false,
    strengthOf,
  });
