import { given } from '@cardea/testing';
import { describe, it } from 'vitest';
import {
  SOCIAL_CODE_MS,
  type SocialCode,
  type SocialCodeEvent,
  socialCodes,
} from '../social-code.ts';
import { redeemSocialCode } from './redeem-code.ts';

const now = new Date('2026-01-01T10:00:00Z');
const later = (ms: number) => new Date(now.getTime() + ms);
const issued: SocialCodeEvent = {
  type: 'SocialCodeIssued',
  data: {
    ...{ user_id: 'ann', sid: 's1', is_new_user: true },
    expires_at: later(SOCIAL_CODE_MS).toISOString(),
  },
};
const used: SocialCodeEvent = {
  type: 'SocialCodeUsed',
  data: { at: now.toISOString() },
};
const use = (at: Date) => (code: SocialCode) => redeemSocialCode(at, code);

describe('the code of a sign-in by a provider', () => {
  it('is exchanged for tokens once, within a minute', () => {
    given(socialCodes, issued).when(use(now)).accepts(used);
    given(socialCodes, issued, used).when(use(now)).refuses('invalid');
    given(socialCodes).when(use(now)).refuses('invalid');
    given(socialCodes, issued)
      .when(use(later(SOCIAL_CODE_MS)))
      .refuses('expired');
  });
});
