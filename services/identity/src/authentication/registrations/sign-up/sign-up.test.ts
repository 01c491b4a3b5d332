import type { Command } from '@cardea/event-store';
import { describe, expect, it } from 'vitest';
import { refuse } from '../../attempts/attempt.ts';
import {
  answerOfSignUp,
  noticeIn,
  type SignUpRequest,
  signUpOf,
  WITHOUT_TOKENS,
} from './sign-up.ts';

const request: SignUpRequest = {
  email: 'Ann@Example.com',
  password: 'eight or more',
  company_name: ' Acme ',
};
const open = { isOpen: true, toAscii: (domain: string) => domain };
const signingUp = (more: Partial<SignUpRequest>, isOpen = true) =>
  signUpOf({ ...request, ...more }, { ...open, isOpen });

describe('a sign-up', () => {
  it('is taken with its address and its names in their one form', () => {
    const signUp = { email: 'ann@example.com', company: 'Acme', name: null };
    expect(signingUp({})).toEqual({ signUp });
    expect(signingUp({ display_name: ' Ann ' })).toEqual({ signUp: { ...signUp, name: 'Ann' } });
  });

  it.each([
    { of: { email: 'ann' }, refused: 'invalid_email' },
    { of: { company_name: ' ' }, refused: 'invalid_request', field: 'company_name' },
    { of: { display_name: 'a\u0000b' }, refused: 'invalid_request', field: 'display_name' },
    { of: { password: 'seven--' }, refused: 'password_too_short' },
    { of: { password: 'a'.repeat(129) }, refused: 'password_too_long' },
  ])('is refused for what is wrong with it: $refused $field', ({ of, refused, field }) => {
    const details = field === undefined ? {} : { details: [{ field, rule: 'format' }] };
    expect(signingUp(of)).toEqual({ refused, ...details });
  });

  it('is refused before anything is read of it where nobody may sign up', () => {
    expect(signingUp({ email: 'ann', password: '' }, false)).toEqual({
      refused: 'signup_disabled',
    });
  });
});

describe('the answer to a sign-up', () => {
  const tokens = { access_token: 'access', refresh_token: 'refresh', expires_in: 900 };
  const of = { user_id: 'ann', ...tokens, email_verified: false };

  it('is the session and its tenant', () => {
    const signedIn = { ...of, mfa_required: false };
    expect(answerOfSignUp({ status: 'session', sid: 's1', signedIn, wrote: 7n }, 't1')).toEqual({
      ok: { ...of, tenant_id: 't1' },
      wrote: 7n,
    });
  });

  it('tells nobody apart who gets no tokens, whatever stands against it', () => {
    for (const reason of ['email_not_verified', 'erased', 'disabled'] as const) {
      expect(answerOfSignUp(refuse(reason), 't1')).toEqual({ ok: WITHOUT_TOKENS });
    }
    expect(WITHOUT_TOKENS.user_id).toBe('');
  });
});

describe('the notice to the holder of a taken address', () => {
  const sealed = { subject: 'day:t-new', box: 'box' };
  const command: Command = {
    id: '0198a1a0-0000-7000-8000-000000000001',
    now: new Date('2026-01-01T10:00:00Z'),
    metadata: {
      tenantId: 't-new',
      actor: { type: 'user', id: 'drawn' },
      requestId: 'r1',
      ip: sealed,
      userAgent: sealed,
    },
  };

  it('is written in their tenant, by nobody, and without where it was asked from', () => {
    const notice = noticeIn('t-theirs', command);
    expect(notice.metadata).toEqual({
      tenantId: 't-theirs',
      actor: { type: 'system', id: 'identity' },
      requestId: 'r1',
    });
    expect(notice.now).toEqual(command.now);
  });

  it('is one and the same when the request is repeated, and no other step of it', () => {
    expect(noticeIn('t-theirs', command).id).toBe(noticeIn('t-theirs', command).id);
    expect(noticeIn('t-theirs', command).id).not.toBe(command.id);
  });
});
