/**
 * Reserves and releases the addresses of accounts. An account takes an address only while it owns the reservation
 * (`holdingEmail`), so two accounts never have the same address.
 */
import { DEPLOYMENT_TENANT } from '@cardea/contracts';
import type { Sealer } from '@cardea/crypto';
import {
  accept,
  type Command,
  type Decided,
  type Decision,
  type Reservation,
  refuse,
  release,
  type Streams,
} from '@cardea/event-store';
import { uuidFrom } from '@cardea/runtime';
import { emailReservations, printOwner, signupReservations } from '../streams/reservation.ts';
import type { HoldName } from './hold-name.ts';
import { ownsEmail } from './users/emails-of-user.ts';
import { exists, type User, type UserEvent, users } from './users/user.ts';

export type EmailOf = {
  readonly tenantId: string;
  readonly userId: string;
  readonly emailHash: string;
};

export type Emails = {
  /** Reserves the address for the account. Returns false if another account has it. */
  readonly hold: (of: EmailOf, command: Command) => Promise<boolean>;
  /** Releases an address that was reserved for the account, unless it is the account's address now. */
  readonly release: (of: EmailOf, command: Command) => Promise<void>;
  /** Makes the address available for sign-up, which needs an address that no account of the deployment has. */
  readonly releaseForSignUp: (
    of: Omit<EmailOf, 'emailHash'> & { readonly email: string },
    command: Command,
  ) => Promise<void>;
};

type Dependencies = {
  readonly streams: Streams;
  readonly sealer: Pick<Sealer, 'indexHash'>;
  readonly hold: HoldName;
};

export const emails = ({ streams, sealer, hold }: Dependencies): Emails => ({
  hold: async ({ emailHash: id, ...owner }, command) => {
    const isOwnedBy = (user: Extract<User, { emailHash: string }>) => ownsEmail(user, id);
    return (await hold(emailReservations, { id, owner, isOwnedBy }, command)).held;
  },
  release: async ({ emailHash, ...owner }, command) => {
    const at = { tenantId: owner.tenantId, id: emailHash };
    const { revision } = await streams.load(emailReservations, at);
    const own = { ...command, id: uuidFrom('release email', command.id, String(revision)) };
    await streams.decideOnBasis(emailReservations, emailHash, own, {
      restsOn: { user: { stream: users, id: owner.userId } },
      decide: (address, { user }) => {
        if (!isHeldBy(address, owner)) return accept();
        if (exists(user) && ownsEmail(user, emailHash)) return accept();
        return accept({ type: 'Released', data: { owner_id: printOwner(owner) } });
      },
    });
  },
  releaseForSignUp: async ({ email, ...owner }, command) => {
    const hash = await sealer.indexHash('deployment', 'signup', email);
    const signUp = { ...command, metadata: { ...command.metadata, tenantId: DEPLOYMENT_TENANT } };
    await release(streams, { stream: signupReservations, hash }, printOwner(owner), signUp);
  },
});

const isHeldBy = (address: Reservation, owner: Omit<EmailOf, 'emailHash'>): boolean =>
  address.status === 'held' && address.ownerId === printOwner(owner);

/**
 * Decides on the account while it owns the address. `address_lost` means that it does not and has to reserve it again.
 */
export const holdingEmail = <Reason extends string>(
  streams: Streams,
  { emailHash, ...owner }: EmailOf,
  command: Command,
  decide: (user: User) => Decision<UserEvent, Reason>,
): Promise<Decided<User, UserEvent, Reason>> =>
  streams.decideOnBasis(users, owner.userId, command, {
    restsOn: { address: { stream: emailReservations, id: emailHash } },
    decide: (user, { address }): Decision<UserEvent, Reason> =>
      isHeldBy(address, owner) ? decide(user) : refuse('address_lost' as Reason),
  });
