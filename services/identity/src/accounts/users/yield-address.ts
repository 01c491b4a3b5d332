/**
 * An invitation proves its address by mail. If another person registered the address without proving it, the invited
 * person takes over that account. It is reclaimed and gets the roles of the invitation.
 */
import type { Sealed } from '@cardea/crypto';
import { accept, type Decision, refuse } from '@cardea/event-store';
import { LATER_FIELDS, NAMES_IN_STATE, type SealedProfile } from '../../http/profile-fields.ts';
import { rankOf } from '../../ranks/ranks.ts';
import { type AddressProof, addressProven } from './prove-address.ts';
import type { ExistingUser, User, UserEvent } from './user.ts';

/** Whether a person who proves the address takes over this account. */
export const yieldsAddress = (user: User): user is ExistingUser =>
  user.status === 'active' && !user.emailVerified && rankOf(user.roles) === 0;

export type YieldAddress = {
  readonly roles: readonly string[];
  readonly passwordHash: Sealed | null;
  readonly displayName: Sealed | null;
  readonly proof: Omit<AddressProof, 'now'>;
  readonly now: Date;
};

export function yieldAddress(
  { roles, passwordHash: hash, displayName, proof, now }: YieldAddress,
  user: User,
): Decision<UserEvent, 'taken'> {
  if (!yieldsAddress(user)) return refuse('taken');
  const { id, epoch } = user;
  const at = now.toISOString();
  const proven = addressProven(user, { ...proof, now });
  const events: UserEvent[] = [
    ...proven,
    { type: 'ProfileChanged', data: { id, ...emptied(user), display_name: displayName, at } },
    ...metadataCleared(user, at),
    { type: 'RolesChanged', data: { id, roles, at } },
  ];
  if (!user.vouched) events.push({ type: 'UserVouched', data: { id, at } });
  if (hash !== null) {
    const risen = proven.some(({ type }) => type === 'AccountReclaimed') ? 1 : 0;
    const set = { id, hash, by: 'created', epoch: epoch + risen, keep_sid: null, at } as const;
    events.push({ type: 'PasswordSet', data: set });
  }
  return accept(...events);
}

/** Clears personal data that the account had before. */
const emptied = (user: ExistingUser): SealedProfile => ({
  avatar_url: null,
  ...Object.fromEntries(
    LATER_FIELDS.filter((field) => user[NAMES_IN_STATE[field]] != null).map((field) => [
      field,
      null,
    ]),
  ),
});

const metadataCleared = (user: ExistingUser, at: string): readonly UserEvent[] =>
  user.publicMetadata == null && user.privateMetadata == null
    ? []
    : [
        {
          type: 'MetadataSet',
          data: { id: user.id, public_metadata: null, private_metadata: null, at },
        },
      ];
