import { describe, expect, it } from 'vitest';
import { drawChallenge } from '../../../mail/mail.module.ts';
import { codeCookie } from '../code-cookie.ts';
import { type MailboxNaming, mailboxNamed, mayBeUnbound, refusalOfCode } from './verify-code.ts';

const codeKeys = { current: Buffer.alloc(32, 1), previous: undefined };
const of = { codeKeys, tenantId: 't1', toAscii: (domain: string) => domain };
const asker = '0123456789abcdef';
const anns = 'a'.repeat(32);
const bobs = 'b'.repeat(32);
const challengeOf = (mailbox: string, tenantId = 't1') =>
  drawChallenge(
    codeKeys,
    { tenantId, mailbox, asker },
    { bytes: (length) => Buffer.alloc(length, 7) },
  );
const cookieOf = (challenge: string) => codeCookie(challenge).split(';')[0];
const naming = (asked: Partial<MailboxNaming>) =>
  mailboxNamed({ challenge: undefined, email: undefined, cookies: undefined, ...asked }, of);

describe('the mailbox of a code', () => {
  it('is the one that the challenge, the address or the cookie names', () => {
    const ours = { by: 'challenge', mailbox: anns, asker };
    expect(naming({ challenge: challengeOf(anns) })).toEqual(ours);
    expect(naming({ cookies: `theme=dark; ${cookieOf(challengeOf(anns))}` })).toEqual(ours);
    expect(naming({ email: 'Ann@Example.com' })).toEqual({ by: 'email', email: 'ann@example.com' });
    expect(naming({ cookies: 'theme=dark' })).toEqual({ by: 'nothing' });
  });

  it('is named by the request itself before the cookie, by the challenge before the address', () => {
    const cookies = cookieOf(challengeOf(bobs));
    const all = { challenge: challengeOf(anns), email: 'cy@example.com', cookies };
    expect(naming(all)).toEqual({ by: 'challenge', mailbox: anns, asker });
    expect(naming({ ...all, challenge: undefined })).toMatchObject({ by: 'email' });
  });

  it('is nobody’s where a challenge is not ours, whatever else is named', () => {
    const none = { by: 'unknown_challenge' };
    const challenge = challengeOf(anns, 't2');
    const cookies = cookieOf(challengeOf(anns));
    expect(naming({ challenge, email: 'ann@example.com', cookies })).toEqual(none);
    expect(naming({ cookies: cookieOf(challenge) })).toEqual(none);
  });

  it('is not looked for by what is no address', () => {
    expect(naming({ email: 'ann', cookies: cookieOf(challengeOf(anns)) })).toEqual({
      by: 'no_address',
    });
  });

  it('identity 8 may be left out where codes are too many to guess, not with six digits', () => {
    expect(mayBeUnbound('base32')).toBe(true);
    expect(mayBeUnbound('digits6')).toBe(false);
  });
});

describe('a code that signs nobody in', () => {
  it('is answered by what is wrong with it', () => {
    expect(refusalOfCode('invalid')).toEqual({ refused: 'invalid_code' });
    expect(refusalOfCode('expired')).toEqual({ refused: 'code_expired' });
    expect(refusalOfCode('login_disabled')).toEqual({ refused: 'otp_login_disabled' });
    expect(refusalOfCode('too_many_attempts')).toEqual({
      refused: 'too_many_attempts',
      headers: { 'Retry-After': '60' },
    });
  });
});
