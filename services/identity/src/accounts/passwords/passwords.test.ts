import { fakeClock } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { argon2 } from '../../adapters/argon2.ts';
import {
  HASH_QUEUE_MAX,
  HASH_WAIT_MAX_MS,
  hashLimit,
  passwordFault,
  passwords,
} from './passwords.ts';

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

  it('is as hard to guess as its tenant asks', () => {
    const hard = { ...policy, zxcvbn_score: 3 } as const;
    expect(passwordFault('qwertyuiop', hard)).toBe('password_too_weak');
    expect(passwordFault('qwertyuiop', policy)).toBeUndefined();
    expect(passwordFault('dragon boat at noon', hard)).toBeUndefined();
    expect(passwordFault('x'.repeat(128), hard)).toBe('password_too_weak');
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
    const phc = await kept.hash('cafe\u0301 au lait');
    expect(await kept.verify(phc, 'caf\u00e9 au lait')).toEqual({ right: true });
    expect(await kept.verify(phc, 'cafe au lait')).toEqual({ right: false });
  });

  it('is hashed once more when the parameters have changed', async () => {
    const phc = await cheap().hash('correct horse');
    const { right, rehashed = '' } = await cheap(2).verify(phc, 'correct horse');
    expect(right).toBe(true);
    expect(rehashed).toContain('t=2');
    expect(await cheap(2).verify(phc, 'wrong horse')).toEqual({ right: false });
  });

  it.each(['', 'nonsense', '$argon2id$v=19$m=9999999,t=2,p=1$c2FsdHNhbHQ$aGFzaA'])(
    'is never right against the broken or immoderate hash "%s"',
    async (phc) => {
      expect(await cheap().verify(phc, 'correct horse')).toEqual({ right: false });
    },
  );
});

const cheap = (time = 1) =>
  passwords(
    argon2({ memoryKib: 64, time }),
    hashLimit(1, { sleep: () => new Promise(() => {}) }),
    async () => false,
  );

const pendingJob = () => {
  let release = (): void => {};
  const job = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { job: () => job, release: () => release() };
};
const settled = async () => {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
};

describe('the limit of password hashes at once', () => {
  it('lets so many in at once, the others in the order in which they came', async () => {
    const limit = hashLimit(1, fakeClock('2026-01-01T00:00:00Z'));
    const first = pendingJob();
    const order: string[] = [];
    const running = [
      limit.run(first.job),
      limit.run(async () => void order.push('second')),
      limit.run(async () => void order.push('third')),
    ];
    await settled();
    expect(order).toEqual([]);
    first.release();
    await Promise.all(running);
    expect(order).toEqual(['second', 'third']);
  });

  it('S10 turns away what does not fit into the line, at once', async () => {
    const limit = hashLimit(1, fakeClock('2026-01-01T00:00:00Z'));
    const first = pendingJob();
    void limit.run(first.job);
    const waiting = Array.from({ length: HASH_QUEUE_MAX }, () => limit.run(async () => 'done'));
    await expect(limit.run(async () => 'never')).rejects.toMatchObject({ name: 'Overloaded' });
    first.release();
    expect(await Promise.all(waiting)).toHaveLength(HASH_QUEUE_MAX);
  });

  it('S10 turns away what has waited too long, and gives its place to nobody twice', async () => {
    const clock = fakeClock('2026-01-01T00:00:00Z');
    const limit = hashLimit(1, clock);
    const first = pendingJob();
    void limit.run(first.job);
    const late = limit.run(async () => 'never');
    const refused = expect(late).rejects.toMatchObject({ name: 'Overloaded' });
    await settled();
    await clock.advance(HASH_WAIT_MAX_MS);
    await refused;
    expect(limit.waiting()).toBe(0);
    first.release();
    expect(await limit.run(async () => 'next')).toBe('next');
  });

  it('frees the place of a job that failed', async () => {
    const limit = hashLimit(1, fakeClock('2026-01-01T00:00:00Z'));
    await expect(limit.run(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(await limit.run(async () => 'next')).toBe('next');
  });
});
