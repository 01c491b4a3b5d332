/** Creates a user once, with or without a password. */
import type { UserCreatedVia } from '@cardea/contracts';
import type { Sealed } from '@cardea/crypto';
import { accept, type Decision, refuse } from '@cardea/event-store';
import type { SealedProfile } from '../../http/profile-fields.ts';
import { identityLinked, type NewIdentity } from './identities.ts';
import type { SealedMetadata } from './metadata.ts';
import type { User, UserEvent } from './user.ts';

export type CreateUser = {
  readonly id: string;
  readonly email: Sealed;
  readonly emailHash: string;
  readonly emailVerified: boolean;
  readonly displayName: Sealed | null;
  readonly avatarUrl: Sealed | null;
  readonly roles: readonly string[];
  /** The initial profile without name and picture, which are separate fields. */
  readonly profile: SealedProfile;
  readonly metadata: SealedMetadata;
  readonly passwordHash: Sealed | null;
  readonly via: UserCreatedVia;
  readonly vouched: boolean;
  readonly requestHash: string | null;
  readonly isInvited: boolean;
  /** The external account by which the owner signs in. */
  readonly identity: NewIdentity | null;
  readonly now: Date;
};

export function createUser(
  command: CreateUser,
  user: User,
): Decision<UserEvent, 'abandoned' | 'already_created'> {
  if (user.status === 'abandoned') return refuse('abandoned');
  if (user.status !== 'none') return refuse('already_created');
  const { id, now } = command;
  const registered: UserEvent = {
    type: 'UserRegistered',
    data: {
      id,
      email: command.email,
      email_hash: command.emailHash,
      email_verified: command.emailVerified,
      display_name: command.displayName,
      avatar_url: command.avatarUrl,
      roles: command.roles,
      via: command.via,
      vouched: command.vouched,
      request_hash: command.requestHash,
      ...(command.isInvited ? { invited: true } : {}),
      created_at: now.toISOString(),
    },
  };
  return accept<UserEvent>(
    registered,
    ...profileSet(command),
    ...metadataSet(command),
    ...passwordSet(command),
    ...linked(command),
  );
}

function profileSet({ id, profile, now }: CreateUser): readonly UserEvent[] {
  if (Object.keys(profile).length === 0) return [];
  return [{ type: 'ProfileChanged', data: { id, ...profile, at: now.toISOString() } }];
}

function metadataSet({ id, metadata, now }: CreateUser): readonly UserEvent[] {
  if (Object.keys(metadata).length === 0) return [];
  return [{ type: 'MetadataSet', data: { id, ...metadata, at: now.toISOString() } }];
}

function passwordSet({ id, passwordHash: hash, now }: CreateUser): readonly UserEvent[] {
  if (hash === null) return [];
  const data = { id, hash, by: 'created', epoch: 0, keep_sid: null } as const;
  return [{ type: 'PasswordSet', data: { ...data, at: now.toISOString() } }];
}

const linked = ({ id, identity, now }: CreateUser): readonly UserEvent[] =>
  identity === null ? [] : [identityLinked(id, identity, { before: [], now })];
