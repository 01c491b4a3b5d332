import { describe, expect, it } from 'vitest';
import { TENANT_DEFAULTS, type TenantSettings } from '../../../workspaces/workspaces.module.ts';
import { refuse } from '../../attempts/attempt.ts';
import {
  answerOfRegistration,
  mailAfter,
  objectionTo,
  registrantOf,
  startsSession,
  tenantNamed,
  withoutTokens,
} from './register.ts';

const toAscii = (domain: string) => domain;
const registrationIn = (registration: Partial<TenantSettings['registration']>) => ({
  ...TENANT_DEFAULTS,
  registration: { ...TENANT_DEFAULTS.registration, ...registration },
});
const verifying = { ...TENANT_DEFAULTS, email_verification_required: true };

describe('a registration', () => {
  it('is taken with its address and name in their one form', () => {
    const asked = { email: 'Ann@Example.com', display_name: ' Ann ' };
    const registrant = { email: 'ann@example.com', displayName: 'Ann' };
    expect(registrantOf(asked, toAscii)).toEqual({ registrant });
    expect(registrantOf({ email: 'ann', display_name: '\u0000' }, toAscii)).toEqual({
      refused: 'invalid_email',
    });
    expect(registrantOf({ ...asked, display_name: '\u0000' }, toAscii)).toMatchObject({
      refused: 'invalid_request',
      details: [{ field: 'display_name' }],
    });
  });

  it.each([
    { byHeader: 't1', byKey: undefined, named: { tenantId: 't1' } },
    { byHeader: '', byKey: 't1', named: { tenantId: 't1' } },
    { byHeader: 't1', byKey: 't1', named: { tenantId: 't1' } },
    { byHeader: 't2', byKey: 't1', named: { refused: 'tenant_mismatch' } },
    { byHeader: 't1', byKey: null, named: { refused: 'invalid_publishable_key' } },
    { byHeader: '', byKey: undefined, named: { refused: 'tenant_required' } },
  ])('is in the tenant that header "$byHeader" and key "$byKey" name', ({ named, ...of }) => {
    expect(tenantNamed(of)).toEqual(named);
  });

  it('is open to anybody, or else to nobody, whatever their password', () => {
    expect(objectionTo('eight or more', registrationIn({ mode: 'open' }))).toBeUndefined();
    for (const mode of ['invited', 'closed'] as const) {
      expect(objectionTo('short', registrationIn({ mode }))).toBe('registration_closed');
    }
  });

  it('is held to the passwords of its tenant', () => {
    const strict = {
      ...TENANT_DEFAULTS,
      password_policy: {
        min: 12,
        common: 'refuse',
        zxcvbn_score: null,
        breach_check: false,
        history: 0,
      } as const,
    };
    expect(objectionTo('eleven char', strict)).toBe('password_too_short');
    expect(objectionTo('eleven char', TENANT_DEFAULTS)).toBeUndefined();
  });
});

describe('the answer to a registration', () => {
  const tokens = { user_id: 'ann', access_token: 'a', refresh_token: 'r', expires_in: 900 };
  const to = (settings: TenantSettings) => ({ userId: 'ann', settings });

  it('is the session that it began', () => {
    const signedIn = { ...tokens, email_verified: false, mfa_required: false };
    const ended = { status: 'session', sid: 's1', signedIn, wrote: 7n } as const;
    expect(answerOfRegistration(ended, to(TENANT_DEFAULTS))).toEqual(tokens);
  });

  it('is that of a taken address where the tenant wants addresses verified', () => {
    const answer = answerOfRegistration(refuse('email_not_verified'), to(verifying));
    expect(answer).toEqual(withoutTokens(verifying));
    expect(answer).toMatchObject({ user_id: '', verification_required: true });
  });

  it('names the account where the tenant has said that answers may differ', () => {
    const registration = { ...verifying.registration, uniform_response: false };
    const settings = { ...verifying, registration };
    const named = { user_id: 'ann', verification_required: true };
    expect(answerOfRegistration(refuse('email_not_verified'), to(settings))).toEqual(named);
    expect(answerOfRegistration(refuse('erased'), to(settings))).toEqual(withoutTokens(settings));
  });
});

describe('an address that is taken', () => {
  const language = 'de' as const;
  const of = { email: 'ann@example.com', emailHash: 'h', userId: 'drawn', language };

  it('gets a mail as a new one does, which names no account', () => {
    expect(mailAfter('created', of)).toEqual({ purpose: 'verify', ...of });
    expect(mailAfter('taken', of)).toEqual({ purpose: 'notice', ...of, userId: null });
  });

  it('costs a session where a new one would begin it', () => {
    expect([TENANT_DEFAULTS, verifying].map(startsSession)).toEqual([true, false]);
  });
});
