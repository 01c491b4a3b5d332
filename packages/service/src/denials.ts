/**
 * What a known caller was refused is a fact of its own: an `ActionDenied` in the log of the service
 * where it happened, on a stream that nobody else writes.
 */
import type { JsonObject } from '@cardea/contracts';
import type { Mapped } from '@cardea/event-bus';
import {
  accept,
  type Command,
  type RecordedEvent,
  type Stream,
  type Streams,
} from '@cardea/event-store';
import type { Area } from '@cardea/http';

export type ActionDenied = {
  readonly type: 'ActionDenied';
  readonly data: {
    readonly area: Area;
    readonly operation: string;
    /** The error code that was answered. */
    readonly reason: string;
    readonly status: number;
    readonly target: { readonly type: string; readonly id: string | null } | null;
    /** More than 1 where a minute's refusals were folded into one. */
    readonly count: number;
  };
};

const denial = (noun: string): Stream<null, ActionDenied> => ({
  noun,
  initial: null,
  evolve: () => null,
});

/** Appends one; `noun` is `denial`, but where a service keeps its refusals elsewhere. */
export async function recordDenial(
  streams: Streams,
  command: Command,
  data: ActionDenied['data'],
  noun = 'denial',
): Promise<void> {
  await streams.decideOn(denial(noun), command.id, command, (_state, revision) =>
    revision > 0 ? accept() : accept({ type: 'ActionDenied', data }),
  );
}

/** The integration event of an `ActionDenied`; the relay asks for this before the service's own mapper. */
export const mapDenial = (event: RecordedEvent): Mapped | undefined =>
  event.type === 'ActionDenied'
    ? { type: 'action.denied', data: event.data as JsonObject }
    : undefined;
