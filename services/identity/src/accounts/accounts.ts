/**
 * Creates accounts: first the address is reserved, then the user is created. A registration that crashed in
 * between loses the address after a minute, and can never be completed afterwards.
 */
import type { UserCreatedVia } from '@cardea/contracts';
import type { Sealer } from '@cardea/crypto';
import type { Command, Streams } from '@cardea/event-store';
import type { Database } from '@cardea/read-models';
import type { Clock } from '@cardea/runtime';
import type { Profile } from '../http/profile-fields.ts';
import type { MailOutbox } from '../mail/mail.module.ts';
import type { UserField } from '../streams/encrypted-fields.ts';
import { type AddressHolder, addressHolder } from './address-holder.ts';
import { type Emails, emails } from './emails.ts';
import {
  type ExternalAccount,
  type ExternalIdentities,
  externalIdentities,
} from './external-identities.ts';
import { type HoldName, nameHolding } from './hold-name.ts';
import { type IsPromised, promisedAddress } from './invitations/promised-address.ts';
import type { UserDirectory } from './user-directory.ts';
import { createUser } from './users/create-user.ts';
import type { NewIdentity } from './users/identities.ts';
import type { NewMetadata } from './users/metadata.ts';
import { sealNewMetadata } from './users/seal-metadata.ts';
import { type ExistingUser, exists, users } from './users/user.ts';

export type NewAccount = {
  readonly id: string;
  readonly email: string;
  readonly emailHash: string;
  readonly emailVerified: boolean;
  readonly displayName: string | null;
  readonly avatarUrl: string | null;
  /** The profile without name and picture, which are separate fields above. */
  readonly profile?: Profile<string>;
  readonly metadata?: NewMetadata;
  readonly roles: readonly string[];
  readonly passwordHash: string | null;
  readonly via: UserCreatedVia;
  /** Whether an administrator vouches for the account, or it is the first account of a workspace. */
  readonly vouched: boolean;
  readonly requestHash: string | null;
  /** The external account by which its owner signs in. */
  readonly external?: ExternalAccount;
  /** Whether the account is for an invited person. Nobody can sign in until that person has accepted. */
  readonly isInvited?: boolean;
};

export type Created =
  | {
      readonly outcome: 'created';
      readonly user: ExistingUser;
      readonly position: bigint | undefined;
    }
  | { readonly outcome: 'taken' }
  /** The same command created the account earlier, and the account was deleted since. */
  | { readonly outcome: 'deleted' };

/** Streams that creating an account appends to: the address's reservation and the user. */
export const ACCOUNT_APPENDS = 2;

export type Accounts = {
  readonly hold: HoldName;
  readonly addressHolder: AddressHolder;
  readonly emails: Emails;
  readonly create: (account: NewAccount, command: Command) => Promise<Created>;
  readonly identities: ExternalIdentities;
  /** Checked before an administrator creates an account. */
  readonly isPromised: IsPromised;
  /** Makes a deleted user's address and external accounts available again, for sign-up too. */
  readonly releaseAddress: (
    of: { readonly tenantId: string; readonly userId: string; readonly emailHash: string },
    command: Command,
  ) => Promise<void>;
};

export function accounts(needs: {
  readonly streams: Streams;
  readonly clock: Clock;
  readonly database: Pick<Database, 'system'>;
  readonly sealer: Pick<Sealer, 'indexHash'>;
  readonly userDirectory: UserDirectory;
  readonly mailOutbox: Pick<MailOutbox, 'lastInvitation'>;
}): Accounts {
  const { streams, userDirectory } = needs;

  const hold = nameHolding(streams);
  const addresses = emails({ ...needs, hold });
  const identities = externalIdentities({ ...needs, hold });
  const heldIdentity = (
    { id: userId }: NewAccount,
    external: ExternalAccount,
    command: Command,
  ): Promise<NewIdentity | 'taken' | 'erased'> => identities.hold({ userId, external }, command);

  return {
    hold,
    addressHolder: addressHolder(needs),
    emails: addresses,
    identities,
    isPromised: promisedAddress(needs),
    releaseAddress: async ({ tenantId, userId, emailHash }, command) => {
      const owner = { tenantId, userId };
      await addresses.release({ ...owner, emailHash }, command);
      const user = await userDirectory.byId(tenantId, userId);
      if (user.status !== 'deleted') return;
      for (const { hash } of user.identities) await identities.release({ ...owner, hash }, command);
      const { previousEmails = [] } = user;
      for (const { hash } of previousEmails) {
        await addresses.release({ ...owner, emailHash: hash }, command);
      }
      for (const sealed of [user.email, ...previousEmails.map(({ email }) => email)]) {
        const email = await userDirectory.emailOf({ id: userId, email: sealed });
        if (email !== null) await addresses.releaseForSignUp({ ...owner, email }, command);
      }
    },
    create: async (account, command) => {
      const { tenantId } = command.metadata;
      const owner = { tenantId, userId: account.id };
      const address = { ...owner, emailHash: account.emailHash };
      if (!(await addresses.hold(address, command))) return { outcome: 'taken' };
      const identity = account.external && (await heldIdentity(account, account.external, command));
      if (identity === 'taken') return { outcome: 'taken' };
      if (identity === 'erased') return { outcome: 'deleted' };
      const fields = await sealedFields(userDirectory, account, tenantId);
      if (fields === 'erased') return { outcome: 'deleted' };
      const decided = await streams.decideOn(users, account.id, command, {
        isNew: true,
        decide: (user) =>
          createUser(
            {
              isInvited: false,
              ...account,
              ...fields,
              identity: identity ?? null,
              now: command.now,
            },
            user,
          ),
      });
      if (decided.state.status === 'deleted') return { outcome: 'deleted' };
      if (!decided.accepted || !exists(decided.state)) return { outcome: 'taken' };
      return { outcome: 'created', user: decided.state, position: decided.position };
    },
  };
}

async function sealedFields(userDirectory: UserDirectory, account: NewAccount, tenantId: string) {
  const owner = { tenantId, userId: account.id };
  const seal = async (field: UserField, value: string | null) =>
    value === null ? null : userDirectory.seal(owner, field, value);
  const [email, displayName, avatarUrl, passwordHash, profile, metadata] = await Promise.all([
    userDirectory.seal(owner, 'email', account.email),
    seal('display_name', account.displayName),
    seal('avatar_url', account.avatarUrl),
    seal('password_hash', account.passwordHash),
    userDirectory.sealProfile(owner, account.profile ?? {}),
    sealNewMetadata(userDirectory, owner, account.metadata ?? {}),
  ]);
  if (email === 'erased' || displayName === 'erased') return 'erased';
  if (avatarUrl === 'erased' || passwordHash === 'erased') return 'erased';
  if (profile === 'erased' || metadata === 'erased') return 'erased';
  return { email, displayName, avatarUrl, passwordHash, profile, metadata };
}
