/**
 * The actions of an administrator on an account: change it, give roles up to their own rank, vouch for it, disable,
 * enable and delete it. An API key ranks as a member, so it can neither give or remove roles nor vouch.
 */

import type { Sealed } from '@cardea/crypto';
import { accept, type Decision, refuse } from '@cardea/event-store';
import type { SealedProfile } from '../../../http/profile-fields.ts';
import { type Administrator, added, mayChangeRoles, rankOf } from '../../../ranks/ranks.ts';
import { outranks } from '../administrator.ts';
import { releasedByChange } from '../emails-of-user.ts';
import { METADATA_KINDS, type MetadataChanges } from '../metadata.ts';
import { isActiveAdmin, isDemotion } from '../ranks.ts';
import { type ExistingUser, exists, type User, type UserEvent } from '../user.ts';

export type Administer = {
  readonly by: Administrator;
  readonly profile?: SealedProfile;
  readonly metadata?: MetadataChanges;
  readonly email?: NewEmail;
  readonly roles?: readonly string[];
  readonly vouched?: boolean;
  readonly status?: 'active' | 'disabled';
  /** Another administrator remains, and the tenant's list marks this user as leaving. */
  readonly mayLeave: boolean;
  /** Unix seconds: access tokens issued from then on contain the new rank. */
  readonly tokensBefore: number;
  readonly now: Date;
};

export type NewEmail = {
  readonly email: Sealed;
  readonly hash: string;
  /** The administrator states that the address belongs to the person. */
  readonly verified: boolean;
};

/** `leaves`: the change removes an administrator, so the tenant's list has to be marked first. */
export type AdministerRefusal =
  | 'not_found'
  | 'forbidden'
  | 'email_not_verified'
  | 'leaves'
  /** The address is no longer reserved for the user. */
  | 'address_lost'
  /** The user's metadata is no longer the state that the change was made from. */
  | 'metadata_changed';

export function administer(
  command: Administer,
  user: User,
): Decision<UserEvent, AdministerRefusal> {
  if (!exists(user)) return refuse('not_found');
  const { by, email, roles, vouched, status } = command;
  if (outranks(user, by)) return refuse('forbidden');
  if (roles !== undefined && !mayChangeRoles(by, user.roles, roles)) return refuse('forbidden');
  if ((vouched !== undefined || email !== undefined) && by.isKey) return refuse('forbidden');
  const emailEvents = emailChange(command, user);
  const isMoved = emailEvents.some(({ type }) => type === 'EmailChanged');
  const isVerified = isMoved && email !== undefined ? email.verified : user.emailVerified;
  if (!isVerified && isRaised(command, user)) return refuse('email_not_verified');
  const left = { ...user, roles: roles ?? user.roles, status: status ?? user.status };
  if (isActiveAdmin(user) && !isActiveAdmin(left) && !command.mayLeave) return refuse('leaves');
  if (isOutdated(command, user)) return refuse('metadata_changed');
  return accept(
    ...profileChange(command, user.id),
    ...metadataChange(command, user.id),
    ...rolesChange(command, user),
    ...vouchChange(command, { ...user, emailVerified: isVerified }),
    ...emailEvents,
    ...statusChange(command, isMoved ? { ...user, epoch: user.epoch + 1 } : user),
  );
}

/**
 * Sessions end, and secrets that were mailed before become invalid. Setting the current address again cancels a pending
 * change of address.
 */
function emailChange({ email, now }: Administer, user: ExistingUser): readonly UserEvent[] {
  if (email === undefined) return [];
  const at = now.toISOString();
  if (email.hash === user.emailHash) {
    const { id, emailChange: pending = null } = user;
    if (pending === null) return [];
    return [{ type: 'EmailChangeStopped', data: { id, change_id: pending.id, by: 'admin', at } }];
  }
  const { id, emailHash: previous_hash } = user;
  return [
    ...releasedByChange(user, { id, newHash: email.hash, at }),
    {
      type: 'EmailChanged',
      data: {
        id,
        email: email.email,
        email_hash: email.hash,
        previous_hash,
        email_verified: email.verified,
        by: 'admin',
        epoch: user.epoch + 1,
        keep_sid: null,
        at,
      },
    },
  ];
}

/** An address that was never proven may have been registered by another person. */
const isRaised = ({ roles, vouched }: Administer, user: ExistingUser): boolean =>
  (vouched === true && !user.vouched) ||
  (roles !== undefined && rankOf(roles) > Math.max(0, rankOf(user.roles)));

export function deleteUser(
  { by, mayLeave, now }: Pick<Administer, 'by' | 'mayLeave' | 'now'>,
  user: User,
): Decision<UserEvent, 'not_found' | 'forbidden' | 'leaves'> {
  if (!exists(user)) return refuse('not_found');
  if (outranks(user, by)) return refuse('forbidden');
  if (isActiveAdmin(user) && !mayLeave) return refuse('leaves');
  return accept({
    type: 'UserDeleted',
    data: { id: user.id, email_hash: user.emailHash, deleted_at: now.toISOString() },
  });
}

const isOutdated = ({ metadata = {} }: Administer, user: ExistingUser): boolean => {
  const now = { public_metadata: user.publicMetadata, private_metadata: user.privateMetadata };
  return METADATA_KINDS.some((kind) => {
    const change = metadata[kind];
    return change !== undefined && change.before?.box !== now[kind]?.box;
  });
};

function profileChange({ profile = {}, now }: Administer, id: string): UserEvent[] {
  if (Object.keys(profile).length === 0) return [];
  return [{ type: 'ProfileChanged', data: { id, ...profile, at: now.toISOString() } }];
}

function metadataChange({ metadata = {}, now }: Administer, id: string): UserEvent[] {
  const { public_metadata: forUser, private_metadata: hidden } = metadata;
  if (forUser === undefined && hidden === undefined) return [];
  const data = {
    id,
    ...(forUser === undefined ? {} : { public_metadata: forUser.after }),
    ...(hidden === undefined ? {} : { private_metadata: hidden.after }),
    at: now.toISOString(),
  };
  return [{ type: 'MetadataSet', data }];
}

function rolesChange({ roles, tokensBefore, now }: Administer, user: ExistingUser): UserEvent[] {
  if (roles === undefined) return [];
  if (added(user.roles, roles).length + added(roles, user.roles).length === 0) return [];
  const ends = isDemotion(user.roles, roles)
    ? { tokens_before: Math.max(tokensBefore, user.tokensBefore) }
    : {};
  return [{ type: 'RolesChanged', data: { id: user.id, roles, ...ends, at: now.toISOString() } }];
}

/** Giving a role to a user with a proven address vouches for them, unless the same request says otherwise. */
function vouchChange({ by, roles, vouched, now }: Administer, user: ExistingUser): UserEvent[] {
  const isGivenRole = added(user.roles, roles ?? []).some((role) => role !== 'member') && !by.isKey;
  const after = vouched ?? (user.vouched || (isGivenRole && user.emailVerified));
  if (after === user.vouched) return [];
  const data = { id: user.id, at: now.toISOString() };
  return [{ type: after ? 'UserVouched' : 'VouchWithdrawn', data }];
}

function statusChange({ status, now }: Administer, user: ExistingUser): UserEvent[] {
  if (status === undefined || status === user.status) return [];
  const at = now.toISOString();
  return status === 'disabled'
    ? [{ type: 'UserDisabled', data: { id: user.id, epoch: user.epoch + 1, at } }]
    : [{ type: 'UserEnabled', data: { id: user.id, at } }];
}
