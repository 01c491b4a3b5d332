import { describe, expect, it } from 'vitest';
import { refuse } from '../../attempts/attempt.ts';
import { refusalOfPasskey } from './sign-in.ts';

describe('a sign-in by passkey that is refused', () => {
  it('says what stands against it to whoever showed the passkey', () => {
    expect(refusalOfPasskey(refuse('login_disabled')).refused).toBe('passkeys_login_disabled');
    expect(refusalOfPasskey(refuse('email_not_verified')).refused).toBe('email_not_verified');
  });

  it.each(['invalid_credentials', 'disabled', 'erased'] as const)(
    'says nothing else of the account: %s',
    (reason) => {
      expect(refusalOfPasskey(refuse(reason))).toEqual({ refused: 'invalid_passkey' });
    },
  );

  it('says how long to wait', () => {
    const headers = { 'Retry-After': '60' };
    expect(refusalOfPasskey(refuse('limited', 60))).toEqual({ refused: 'rate_limited', headers });
  });
});
