/**
 * A name that only one owner may hold: an address in a tenant, an address among sign-ups, a slug. Its
 * stream is named by a keyed hash of the value, so the log never shows the value.
 */
import { accept, type Decision, refuse, type Stream } from '@cardea/event-store';

export type Reservation =
  | { readonly status: 'free' }
  | { readonly status: 'held'; readonly ownerId: string; readonly since: string };

export type ReservationEvent =
  | {
      readonly type: 'Reserved';
      readonly data: { readonly owner_id: string; readonly reserved_at: string };
    }
  | { readonly type: 'Released'; readonly data: { readonly owner_id: string } };

/** A holder that never came into being loses its hold after this long. */
const ORPHAN_AFTER_MS = 60_000;

const reservations = (noun: string): Stream<Reservation, ReservationEvent> => ({
  noun,
  initial: { status: 'free' },
  evolve: (_before, { type, data }) => {
    switch (type) {
      case 'Reserved':
        return { status: 'held', ownerId: data.owner_id, since: data.reserved_at };
      case 'Released':
        return { status: 'free' };
    }
  },
});

/** An address within a tenant. */
export const emailReservations = reservations('email');
/** An address that has signed up, in the whole deployment. */
export const signupReservations = reservations('signup');
/** A tenant's slug, in the whole deployment. */
export const slugReservations = reservations('slug');
/** An agent's name within a tenant. */
export const agentNameReservations = reservations('agentname');

export type Reserve = {
  readonly ownerId: string;
  readonly now: Date;
  /** A holder that is known never to come into being. */
  readonly orphan?: string;
};

export function reserve(
  { ownerId, now, orphan }: Reserve,
  reservation: Reservation,
): Decision<ReservationEvent, 'taken'> {
  const reserved: ReservationEvent = {
    type: 'Reserved',
    data: { owner_id: ownerId, reserved_at: now.toISOString() },
  };
  if (reservation.status === 'free') return accept(reserved);
  if (reservation.ownerId === ownerId) return accept();
  if (reservation.ownerId === orphan) return accept(reserved);
  return refuse('taken');
}

/** A hold that is old enough to be doubted; whether its owner exists is for others to find out. */
export function doubtedOwner(reservation: Reservation, now: Date): string | undefined {
  if (reservation.status === 'free') return undefined;
  const age = now.getTime() - new Date(reservation.since).getTime();
  return age >= ORPHAN_AFTER_MS ? reservation.ownerId : undefined;
}

export function release(
  ownerId: string,
  reservation: Reservation,
): Decision<ReservationEvent, never> {
  return reservation.status === 'held' && reservation.ownerId === ownerId
    ? accept({ type: 'Released', data: { owner_id: ownerId } })
    : accept();
}

/** A user that is, or is to be. */
export type Owner = { readonly tenantId: string; readonly userId: string };
export const printOwner = ({ tenantId, userId }: Owner): string => `${tenantId}/${userId}`;
/** The holder that a reservation names. */
export const readOwner = (text: string): Owner => {
  const [tenantId = '', userId = ''] = text.split('/');
  return { tenantId, userId };
};
