/**
 * Who decides in the place of a person for a while. Whatever is asked of that person meanwhile is made out to the
 * deputy; what waits already stays with the person.
 */
import { crockford, sha256Of } from '@cardea/crypto';
import type { Stream } from '@cardea/event-store';

export type Deputyship = {
  readonly deputy: string;
  readonly from: string;
  readonly until: string;
};
export type DeputyState = Deputyship | null;

/** Carries the whole state; `deputy` and the times are null where the person has none any more. */
export type DeputyChanged = {
  readonly type: 'DeputyChanged';
  readonly data: {
    readonly user_id: string;
    readonly deputy: string | null;
    readonly from: string | null;
    readonly until: string | null;
    /** The deputy of before, who has to be told. */
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

/** A stream of each person. */
export const deputyIdOf = (of: { readonly tenantId: string; readonly userId: string }): string =>
  crockford(sha256Of(of.tenantId, of.userId)).toLowerCase();

/** Undefined where there is none, or its time is over. */
export const presentDeputy = (state: DeputyState, now: Date): Deputyship | undefined =>
  state !== null && Date.parse(state.until) > now.getTime() ? state : undefined;
