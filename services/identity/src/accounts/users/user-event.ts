/** The events of an account, in its stream `user-<id>`. */

import type { UserCreatedVia } from '@cardea/contracts';
import type { Sealed } from '@cardea/crypto';
import type { SealedProfile } from '../../http/profile-fields.ts';
import type { EmailEvent } from './emails-of-user.ts';
import type { IdentityEvent } from './identities.ts';
import type { SecondFactorEvent } from './second-factors.ts';

export type UserEvent =
  | {
      readonly type: 'UserAbandoned';
      readonly concerns?: never;
      readonly data: { readonly id: string };
    }
  | {
      readonly type: 'UserRegistered';
      readonly concerns?: 'relay' | 'announce_vouched' | 'settle_administrators' | 'users';
      readonly data: {
        readonly id: string;
        readonly email: Sealed;
        readonly email_hash: string;
        readonly email_verified: boolean;
        readonly display_name: Sealed | null;
        readonly avatar_url: Sealed | null;
        readonly roles: readonly string[];
        readonly via: UserCreatedVia;
        readonly vouched: boolean;
        readonly request_hash: string | null;
        /** The owner has to accept the invitation first. */
        readonly invited?: true;
        readonly created_at: string;
      };
    }
  | {
      readonly type: 'PasswordSet';
      readonly concerns?:
        | 'relay'
        | 'end_orphaned_agent_sessions'
        | 'notify_security_changes'
        | 'queue_logout_notices'
        | 'revocation_rules'
        | 'revocations'
        | 'users';
      readonly data: {
        readonly id: string;
        readonly hash: Sealed;
        /** `created`: the password was set with the account, so it is no change. */
        readonly by: 'created' | 'user' | 'reset' | 'admin';
        readonly epoch: number;
        readonly keep_sid: string | null;
        readonly at: string;
      };
    }
  | {
      readonly type: 'PasswordRehashed';
      readonly concerns?: never;
      readonly data: { readonly id: string; readonly hash: Sealed };
    }
  | {
      readonly type: 'EmailVerified';
      readonly concerns?: 'relay' | 'users';
      readonly data: { readonly id: string; readonly at: string };
    }
  | {
      readonly type: 'ProfileChanged';
      readonly concerns?: 'relay' | 'users';
      readonly data: {
        readonly id: string;
        readonly at: string;
      } & SealedProfile;
    }
  | {
      readonly type: 'MetadataSet';
      readonly concerns?: 'relay' | 'users';
      readonly data: {
        readonly id: string;
        /** A JSON object as a whole. If missing, it stays unchanged; null clears it. */
        readonly public_metadata?: Sealed | null;
        readonly private_metadata?: Sealed | null;
        readonly at: string;
      };
    }
  | {
      readonly type: 'RolesChanged';
      readonly concerns?:
        | 'relay'
        | 'announce_vouched'
        | 'revocation_rules'
        | 'revocations'
        | 'settle_administrators'
        | 'users';
      readonly data: {
        readonly id: string;
        readonly roles: readonly string[];
        /** Since version 2. Set if a role above `member` was removed. */
        readonly tokens_before?: number;
        /**
         * Only events of version 1 have this field, because they had no separate event for it. It means that an
         * administrator's token gave the roles.
         */
        readonly vouched?: boolean;
        readonly at: string;
      };
    }
  | {
      readonly type: 'UserVouched';
      readonly concerns?: 'relay' | 'revocation_rules' | 'users';
      readonly data: { readonly id: string; readonly at: string };
    }
  | {
      readonly type: 'VouchWithdrawn';
      readonly concerns?: 'relay' | 'revocation_rules' | 'users';
      readonly data: { readonly id: string; readonly at: string };
    }
  | {
      readonly type: 'UserDisabled';
      readonly concerns?:
        | 'relay'
        | 'end_orphaned_agent_sessions'
        | 'notify_security_changes'
        | 'queue_logout_notices'
        | 'revocation_rules'
        | 'revocations'
        | 'settle_administrators'
        | 'users';
      readonly data: { readonly id: string; readonly epoch: number; readonly at: string };
    }
  | {
      readonly type: 'UserEnabled';
      readonly concerns?:
        | 'relay'
        | 'revocation_rules'
        | 'revocations'
        | 'settle_administrators'
        | 'users';
      readonly data: { readonly id: string; readonly at: string };
    }
  | {
      readonly type: 'SessionsRevoked';
      readonly concerns?:
        | 'relay'
        | 'end_orphaned_agent_sessions'
        | 'queue_logout_notices'
        | 'revocation_rules'
        | 'revocations'
        | 'users';
      readonly data: {
        readonly id: string;
        readonly epoch: number;
        readonly keep_sid: string | null;
        readonly count: number;
        readonly at: string;
      };
    }
  | {
      readonly type: 'UserDeleted';
      readonly data: {
        readonly id: string;
        readonly email_hash: string;
        readonly deleted_at: string;
      };
    }
  /** The owner of the proven address took the account from the person who had registered it. */
  | {
      readonly type: 'AccountReclaimed';
      readonly concerns?:
        | 'relay'
        | 'account_deadlines'
        | 'end_orphaned_agent_sessions'
        | 'queue_logout_notices'
        | 'revocation_rules'
        | 'revocations'
        | 'take_back_reclaimed_agents'
        | 'take_back_reclaimed_consents'
        | 'take_back_reclaimed_keys'
        | 'users';
      readonly data: {
        readonly id: string;
        readonly epoch: number;
        readonly tokens_before: number;
        /** How many sessions it ends. */
        readonly count: number;
        readonly at: string;
      };
    }
  /** The person requested the deletion. The account stays usable until then. */
  | {
      readonly type: 'DeletionScheduled';
      readonly concerns?:
        | 'relay'
        | 'account_deadlines'
        | 'end_orphaned_agent_sessions'
        | 'notify_security_changes'
        | 'revocation_rules'
        | 'take_back_reclaimed_agents';
      readonly data: { readonly id: string; readonly delete_at: string; readonly at: string };
    }
  /** The person was notified that the day is near. */
  | {
      readonly type: 'DeletionReminded';
      readonly concerns?: 'account_deadlines' | 'notify_security_changes';
      readonly data: { readonly id: string; readonly delete_at: string; readonly at: string };
    }
  | {
      readonly type: 'DeletionCancelled';
      readonly concerns?: 'relay' | 'account_deadlines' | 'notify_security_changes';
      readonly data: {
        readonly id: string;
        /** `system`: on the day, the person was the last administrator. */
        readonly by: 'user' | 'system';
        readonly at: string;
      };
    }
  | EmailEvent
  | SecondFactorEvent
  | IdentityEvent;
