/** Reserves names of accounts: addresses, sign-up addresses, and external accounts. */
import { type Command, reserve, type Streams } from '@cardea/event-store';
import { uuidFrom } from '@cardea/runtime';
import {
  type emailReservations,
  type externalReservations,
  type Owner,
  printOwner,
  readOwner,
  type signupReservations,
} from '../streams/reservation.ts';
import { abandon, type ExistingUser, exists, users } from './users/user.ts';

type Reservations =
  | typeof emailReservations
  | typeof signupReservations
  | typeof externalReservations;

/** Whether `owner` now has the name. The tenant of `command` must be the tenant of the stream. */
export type HoldName = (
  noun: Reservations,
  of: {
    readonly id: string;
    readonly owner: Owner;
    /** Whether the user still owns the name. A user who gave it up does not. */
    readonly isOwnedBy?: (user: ExistingUser) => boolean;
  },
  command: Command,
) => Promise<{ readonly held: true } | { readonly held: false; readonly by: Owner }>;

export function nameHolding(streams: Streams): HoldName {
  /**
   * True if it is certain that the reservation's owner was never created and will never be, or has given the name up.
   */
  const isOrphan = async (
    { tenantId, userId }: Owner,
    isOwnedBy: (user: ExistingUser) => boolean,
    command: Command,
  ) => {
    const burial: Command = {
      ...command,
      id: uuidFrom(command.id, 'abandon', userId),
      metadata: { ...command.metadata, tenantId },
    };
    const decided = await streams.decideOn(users, userId, burial, abandon);
    return decided.accepted || (exists(decided.state) && !isOwnedBy(decided.state));
  };

  return async (noun, of, command) => {
    const { id, owner, isOwnedBy = () => true } = of;
    const value = { stream: noun, hash: id };
    const reserved = await reserve(streams, value, printOwner(owner), {
      command,
      isOrphan: (by) => isOrphan(readOwner(by), isOwnedBy, command),
    });
    return reserved.reserved ? { held: true } : { held: false, by: readOwner(reserved.heldBy) };
  };
}
