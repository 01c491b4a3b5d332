/**
 * A deputy decides in place of a person for a limited time. New requests to the person go to the deputy during that
 * time. Requests that are waiting already stay with the person.
 */
import { crockford, sha256Of } from '@cardea/crypto';
import type { Stream } from '@cardea/event-store';

export type Deputyship = {
  readonly deputy: string;
  readonly from: string;
  readonly until: string;
};
export type DeputyState = Deputyship | null;

/** Contains the whole state. `deputy` and the times are null if the person has no deputy any more. */
export type DeputyChanged = {
  readonly type: 'DeputyChanged';
  readonly data: {
    readonly user_id: string;
    readonly deputy: string | null;
    readonly from: string | null;
    readonly until: string | null;
    /** The previous deputy, who has to be notified. */
    readonly before: string | null;
  };
};

export const deputies: Stream<DeputyState, DeputyChanged> = {
  noun: 'deputy',
  initial: null,
  stateCarrying: true,
  evolve: (_before, { data: { deputy, from, until } }) =>
    deputy === null || from === null || until === null ? null : { deputy, from, until },
};

/** The id of a person's stream. */
export const deputyIdOf = (of: { readonly tenantId: string; readonly userId: string }): string =>
  crockford(sha256Of(of.tenantId, of.userId)).toLowerCase();

/** The deputy now. Undefined if there is none, or if the deputyship is over. */
export const presentDeputy = (state: DeputyState, now: Date): Deputyship | undefined =>
  state !== null && Date.parse(state.until) > now.getTime() ? state : undefined;
