/**
 * A code in the address to which a sign-in by a provider returns. The page exchanges it once for the session's tokens,
 * within a minute. The stream is named by the code's hash.
 */
import { accept, type Decision, type Stream } from '@cardea/event-store';

export type SocialCode =
  | { readonly status: 'none' | 'used' }
  | {
      readonly status: 'issued';
      readonly userId: string;
      readonly sid: string;
      readonly isNewUser: boolean;
      readonly expiresAt: string;
    };

export type SocialCodeEvent =
  | {
      readonly type: 'SocialCodeIssued';
      readonly concerns?: never;
      readonly data: {
        readonly user_id: string;
        readonly sid: string;
        readonly is_new_user: boolean;
        readonly expires_at: string;
      };
    }
  | {
      readonly type: 'SocialCodeUsed';
      readonly concerns?: never;
      readonly data: { readonly at: string };
    };

export const SOCIAL_CODE_MS = 60_000;

export const socialCodes: Stream<SocialCode, SocialCodeEvent> = {
  noun: 'socialcode',
  initial: { status: 'none' },
  evolve: (_before, { type, data }) => {
    switch (type) {
      case 'SocialCodeIssued':
        return {
          status: 'issued',
          userId: data.user_id,
          sid: data.sid,
          isNewUser: data.is_new_user,
          expiresAt: data.expires_at,
        };
      case 'SocialCodeUsed':
        return { status: 'used' };
    }
  },
};

export function issueSocialCode(
  of: { readonly userId: string; readonly sid: string; readonly isNewUser: boolean },
  now: Date,
): Decision<SocialCodeEvent, never> {
  const expires_at = new Date(now.getTime() + SOCIAL_CODE_MS).toISOString();
  const data = { user_id: of.userId, sid: of.sid, is_new_user: of.isNewUser, expires_at };
  return accept({ type: 'SocialCodeIssued', data });
}
