/**
 * Determines which events change how a person signs in to an account. These are the events that concern
 * `notify_security_changes`. Credentials that were created with the account are no such change. Events that only end
 * sessions, and changes that another mail with a link already reports, cause no notice.
 */
import { type ConcerningType, type EventHandlers, ignored } from '@cardea/event-store';
import type { ExistingUser, ImpersonationEvent, UserEvent } from '../accounts/accounts.module.ts';
import type { FactorEvent } from '../factors/factors.module.ts';
import type { MailDetails } from '../mail/mail.module.ts';

export type SecurityEvent = UserEvent | FactorEvent | ImpersonationEvent;

/** The notice that the owner gets; undefined for none. */
export type ChangeNotice = Required<Pick<MailDetails, 'change'>> &
  Pick<MailDetails, 'provider' | 'codesLeft' | 'day'>;

type FactorType = Extract<UserEvent, { type: 'FactorAdded' }>['data']['factor_type'];
const ADDED = { passkey: 'passkey_added', totp: 'authenticator_added' } as const;
const REMOVED = { passkey: 'passkey_removed', totp: 'authenticator_removed' } as const;
const addedOf = (type: FactorType) => ({ change: ADDED[type] });
const removedOf = (type: FactorType) => ({ change: REMOVED[type] });

export type SecurityChange = ConcerningType<SecurityEvent, 'notify_security_changes'>;

export const SECURITY_CHANGES_OF: EventHandlers<
  SecurityEvent,
  SecurityChange,
  [user: Pick<ExistingUser, 'createdAt' | 'reclaimedAt'>],
  ChangeNotice | undefined
> = {
  PasswordSet: ({ data: { by } }) => {
    switch (by) {
      case 'created':
        return undefined;
      case 'reset':
        return { change: 'password_reset' };
      case 'user':
      case 'admin':
        return { change: 'password_changed' };
    }
  },
  FactorAdded: ({ data }, user) => (isBorn(data, user) ? undefined : addedOf(data.factor_type)),
  FactorRemoved: ({ data }, user) =>
    isReclaim(data, user) ? undefined : removedOf(data.factor_type),
  RecoveryCodesSet: ({ data }, user) =>
    isBorn(data, user) ? undefined : { change: 'recovery_codes_made' },
  IdentityLinked: ({ data }, user) =>
    isBorn(data, user) ? undefined : { change: 'account_linked', provider: data.provider },
  IdentityUnlinked: ({ data }, user) =>
    isReclaim(data, user) ? undefined : { change: 'account_unlinked', provider: data.provider },
  EmailChanged: () => ({ change: 'email_changed' }),
  ImpersonationStarted: () => ({ change: 'impersonated' }),
  UserDisabled: () => ({ change: 'account_disabled' }),
  FactorUsed: ({ data }) =>
    data.type === 'recovery'
      ? { change: 'recovery_code_used', codesLeft: data.code_hashes.length }
      : undefined,
  UserDeleted: ignored('the notice is requested before the address is erased'),
  EmailChangeStopped: () => ({ change: 'email_change_stopped' }),
  DeletionScheduled: ({ data }) => ({ change: 'deletion_scheduled', day: data.delete_at }),
  DeletionReminded: ({ data }) => ({ change: 'deletion_near', day: data.delete_at }),
  DeletionCancelled: ({ data: { by } }) => ({
    change: by === 'system' ? 'deletion_last_admin' : 'deletion_cancelled',
  }),
};

const isBorn = ({ at }: { readonly at: string }, { createdAt }: Pick<ExistingUser, 'createdAt'>) =>
  at === createdAt;

const isReclaim = (
  { at }: { readonly at: string },
  { reclaimedAt }: Pick<ExistingUser, 'reclaimedAt'>,
) => at === reclaimedAt;
