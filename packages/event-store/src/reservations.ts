import { uuidFrom } from '@cardea/runtime';
import type { Command, Streams } from './command.ts';
import { accept, type Decision, refuse, type Stream } from './event-store.ts';

/** A reservation whose owner was not created within this time may be taken over. */
const ORPHANED_AFTER_MS = 60_000;

/** Who holds a unique value. `free` before the first reservation and after a release. */
export type Reservation =
  | { readonly status: 'free' }
  | { readonly status: 'held'; readonly ownerId: string; readonly since: Date };

export type ReservationEvent =
  | {
      readonly type: 'Reserved';
      readonly concerns?: never;
      readonly data: { readonly owner_id: string; readonly reserved_at: string };
    }
  | {
      readonly type: 'Released';
      readonly concerns?: never;
      readonly data: { readonly owner_id: string };
    };

/** A value, identified by its keyed hash, and the kind of stream that reserves it. */
export type ReservedValue = {
  /** The value comes from {@link reservation}, e.g. `reservation('email')`. */
  readonly stream: Stream<Reservation, ReservationEvent>;
  /** `Sealer.indexHash` of the value. */
  readonly hash: string;
};

/** Makes the type of the streams `<noun>-<hash>`. Each reserves a value, e.g. an address, for a single owner. */
export const reservation = (noun: string): Stream<Reservation, ReservationEvent> => ({
  noun,
  initial: { status: 'free' },
  evolve: evolveReservation,
  stateCarrying: true,
});

function evolveReservation(_: Reservation, { type, data }: ReservationEvent): Reservation {
  switch (type) {
    case 'Reserved':
      return { status: 'held', ownerId: data.owner_id, since: new Date(data.reserved_at) };
    case 'Released':
      return { status: 'free' };
  }
}

/**
 * Reserves the value for `ownerId`. Reserving again for the same owner succeeds, so a command that was interrupted can
 * be resumed. `isOrphan` is called for a holder that is a minute old. When it returns true, that owner was never
 * created and the value is taken over.
 */
export async function reserve(
  streams: Streams,
  value: ReservedValue,
  ownerId: string,
  by: { readonly command: Command; readonly isOrphan: (ownerId: string) => Promise<boolean> },
): Promise<{ readonly reserved: true } | { readonly reserved: false; readonly heldBy: string }> {
  const { command, isOrphan } = by;
  const decide =
    (orphan?: string) =>
    (now: Reservation): Decision<ReservationEvent, 'held'> => {
      if (isHeldBy(now, ownerId)) return accept();
      if (now.status === 'held' && now.ownerId !== orphan) return refuse('held');
      const reserved_at = command.now.toISOString();
      return accept({ type: 'Reserved', data: { owner_id: ownerId, reserved_at } });
    };
  const { stream, hash } = value;
  const first = stepOf('reserve', command, 0);
  const found = await streams.decideOn(stream, hash, first, { isNew: true, decide: decide() });
  if (isHeldBy(found.state, ownerId)) return { reserved: true };

  const doubted = doubtedHolder(found.state, ownerId, command.now);
  const orphan = doubted !== undefined && (await isOrphan(doubted)) ? doubted : undefined;
  const again = stepOf('reserve', command, found.revision);
  const { state } = await streams.decideOn(stream, hash, again, decide(orphan));
  const holder = state.status === 'held' ? state.ownerId : ownerId;
  return holder === ownerId ? { reserved: true } : { reserved: false, heldBy: holder };
}

const isHeldBy = (value: Reservation, ownerId: string): boolean =>
  value.status === 'held' && value.ownerId === ownerId;

/** Releases the value when `ownerId` holds it. Otherwise changes nothing. */
export async function release(
  streams: Streams,
  value: ReservedValue,
  ownerId: string,
  command: Command,
): Promise<void> {
  const { revision } = await streams.load(value.stream, placeOf(value, command));
  const step = stepOf('release', command, revision);
  await streams.decideOn(value.stream, value.hash, step, (now) =>
    now.status === 'held' && now.ownerId === ownerId
      ? accept({ type: 'Released', data: { owner_id: ownerId } })
      : accept(),
  );
}

/** One command may reserve, release and, when resumed, reserve again. So each step has its own id. */
const stepOf = (verb: 'reserve' | 'release', command: Command, revision: number): Command => ({
  ...command,
  id: uuidFrom(verb, command.id, String(revision)),
});

const placeOf = ({ hash }: ReservedValue, { metadata }: Command) => ({
  tenantId: metadata.tenantId,
  id: hash,
});

function doubtedHolder(state: Reservation, ownerId: string, now: Date): string | undefined {
  if (state.status === 'free' || state.ownerId === ownerId) return undefined;
  return now.getTime() - state.since.getTime() >= ORPHANED_AFTER_MS ? state.ownerId : undefined;
}
