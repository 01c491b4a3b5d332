/** A code is redeemed once, within its minute. */
import { accept, type Decision, refuse } from '@cardea/event-store';
import type { SocialCode, SocialCodeEvent } from '../social-code.ts';

export function redeemSocialCode(
  now: Date,
  code: SocialCode,
): Decision<SocialCodeEvent, 'invalid' | 'expired'> {
  if (code.status !== 'issued') return refuse('invalid');
  if (now >= new Date(code.expiresAt)) return refuse('expired');
  return accept({ type: 'SocialCodeUsed', data: { at: now.toISOString() } });
}
