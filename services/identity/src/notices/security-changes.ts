/**
 * Which events change how an account is signed in to, and which do not: of each event there is a decision. What
 * came with the account is no change of it.
 */
import { type EventHandlers, ignored, ignoring } from '@cardea/event-store';
import type { ExistingUser, UserEvent } from '../accounts/accounts.module.ts';
import type { FactorEvent } from '../factors/factors.module.ts';
import type { MailDetails } from '../mail/mail.module.ts';

export type SecurityEvent = UserEvent | FactorEvent;

/** What its owner is told of it; undefined: nothing. */
export type ChangeNotice = Required<Pick<MailDetails, 'change'>> &
  Pick<MailDetails, 'provider' | 'codesLeft' | 'day'>;

type FactorType = Extract<UserEvent, { type: 'FactorAdded' }>['data']['factor_type'];
const ADDED = { passkey: 'passkey_added', totp: 'authenticator_added' } as const;
const REMOVED = { passkey: 'passkey_removed', totp: 'authenticator_removed' } as const;
const addedOf = (type: FactorType) => ({ change: ADDED[type] });
const removedOf = (type: FactorType) => ({ change: REMOVED[type] });

export const SECURITY_CHANGES_OF: EventHandlers<
  SecurityEvent,
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
  UserDisabled: () => ({ change: 'account_disabled' }),
  FactorUsed: ({ data }) =>
    data.type === 'recovery'
      ? { change: 'recovery_code_used', codesLeft: data.code_hashes.length }
      : undefined,
  UserDeleted: ignored('the notice is requested before the address is erased'),
  UserEnabled: ignored('the account is as it was before it was disabled'),
  EmailChangeStopped: () => ({ change: 'email_change_stopped' }),
  DeletionScheduled: ({ data }) => ({ change: 'deletion_scheduled', day: data.delete_at }),
  DeletionReminded: ({ data }) => ({ change: 'deletion_near', day: data.delete_at }),
  DeletionCancelled: ({ data: { by } }) => ({
    change: by === 'system' ? 'deletion_last_admin' : 'deletion_cancelled',
  }),
  ...ignoring(
    'a mail with a link says so itself',
    'EmailChangeRequested',
    'EmailChangeProven',
    'EmailChangeReminded',
  ),
  EmailReleased: ignored('the address was left when it was changed'),
  EmailVerified: ignored('whoever did it reads the mail of this address'),
  AccountReclaimed: ignored('the proof of the address, which came by mail, says so itself'),
  ...ignoring('it ends sessions and lets nobody in', 'SessionsRevoked'),
  ...ignoring('it is no way to sign in', 'RolesChanged', 'UserVouched', 'VouchWithdrawn'),
  ...ignoring('it is shown, and signs nobody in', 'ProfileChanged', 'MetadataSet', 'FactorRenamed'),
  ...ignoring('the account is new', 'UserRegistered', 'UserAbandoned'),
  PasswordRehashed: ignored('the password is the same'),
  FactorEnrolled: ignored('it counts once the account has it'),
};

const isBorn = ({ at }: { readonly at: string }, { createdAt }: Pick<ExistingUser, 'createdAt'>) =>
  at === createdAt;

const isReclaim = (
  { at }: { readonly at: string },
  { reclaimedAt }: Pick<ExistingUser, 'reclaimedAt'>,
) => at === reclaimedAt;
