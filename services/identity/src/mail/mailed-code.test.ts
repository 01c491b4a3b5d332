import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  askerOf,
  codeIds,
  drawChallenge,
  drawCode,
  mailboxOfChallenge,
  printCode,
  readCode,
} from './mailed-code.ts';

const random = { bytes: (length: number) => randomBytes(length) };
const keys = { current: Buffer.alloc(32, 1), previous: undefined };
const rotated = { current: Buffer.alloc(32, 2), previous: keys.current };
const mailbox = '0123456789abcdef0123456789abcdef';

describe('a code', () => {
  it('identity 8 is read however a person typed it', () => {
    const code = drawCode('base32', random);
    expect(code).toHaveLength(8);
    expect(printCode(code)).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/);
    for (const typed of [printCode(code), ` ${printCode(code).toLowerCase()} `, code]) {
      expect(readCode('base32', typed)).toBe(code);
    }
    expect(readCode('base32', 'o1il-o1il')).toBe('01110111');
    for (const typed of ['', 'K7QF-3MX', 'K7QF-3MXPA', 'K7QF-3MXU']) {
      expect(readCode('base32', typed)).toBeUndefined();
    }
  });

  it('identity 8 of six digits names nothing without its mailbox', () => {
    const code = drawCode('digits6', random);
    expect(code).toMatch(/^\d{6}$/);
    const named = { format: 'digits6', code } as const;
    const ids = [1, 2].flatMap((generation) => codeIds(keys, 't1', named, { mailbox, generation }));
    expect(new Set([...ids, ...codeIds(keys, 't1', named, undefined)]).size).toBe(3);
  });

  it('identity 18 is found under the secret of before, too', () => {
    const named = { format: 'base32', code: 'K7QF3MXP' } as const;
    const [before] = codeIds(keys, 't1', named, undefined);
    expect(codeIds(rotated, 't1', named, undefined)).toContain(before);
  });
});

describe('a challenge', () => {
  const asker = askerOf('home');

  it('identity 8 names its mailbox to its own tenant alone, and cannot be made elsewhere', () => {
    const challenge = drawChallenge(keys, { tenantId: 't1', mailbox, asker }, random);
    expect(mailboxOfChallenge(keys, 't1', challenge)).toEqual({ mailbox, asker });
    expect(mailboxOfChallenge(rotated, 't1', challenge)).toEqual({ mailbox, asker });
    expect(mailboxOfChallenge(keys, 't2', challenge)).toBeUndefined();
    const other = { current: Buffer.alloc(32, 3), previous: undefined };
    expect(mailboxOfChallenge(other, 't1', challenge)).toBeUndefined();
    expect(mailboxOfChallenge(keys, 't1', 'ch_nonsense')).toBeUndefined();
  });
});
