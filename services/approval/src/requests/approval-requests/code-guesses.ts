/**
 * Wrong binding codes of one approver over all requests: a request ends at its third, but there is always another
 * one to guess at. Each block is longer than the one before, as it is for passwords.
 */
import { accept, type Decision, type Recorded, refuse, type Stream } from '@cardea/event-store';
import {
  type AccountRecord,
  isAccountBlocked,
  missedAt,
  noFailures,
  openedAt,
} from '@cardea/service';

export type CodeGuesses = AccountRecord | null;
export type CodeGuessesEvent =
  | { readonly type: 'BindingCodeMissed'; readonly data: AccountRecord }
  /** An administrator let the approver try again. */
  | {
      readonly type: 'CodeGuessesCleared';
      readonly concerns?: never;
      readonly data: AccountRecord;
    };

/** `guesses-<user>`. */
export const codeGuesses: Stream<CodeGuesses, CodeGuessesEvent> = {
  noun: 'guesses',
  initial: null,
  stateCarrying: true,
  evolve: (_before, { data }) => data,
};

/** The user whose codes the stream counts. */
export const guesserOf = ({ streamId }: Pick<Recorded<CodeGuessesEvent>, 'streamId'>): string =>
  streamId.slice(codeGuesses.noun.length + 1);

/** A miss that begins a block; the next one comes when the block is over. */
export const beginsBlock = ({ data }: CodeGuessesEvent): boolean => data.blocked_until !== null;

/** Until when the approver may send no code; undefined while they may. */
export function blockedUntil(guesses: CodeGuesses, now: Date): Date | undefined {
  if (guesses === null || !isAccountBlocked(guesses, now)) return undefined;
  return guesses.blocked_until === null ? undefined : new Date(guesses.blocked_until);
}

/** Records a wrong code, unless the approver is blocked: then it is not even compared for them. */
export function missCode(now: Date, guesses: CodeGuesses): Decision<CodeGuessesEvent, 'blocked'> {
  if (blockedUntil(guesses, now) !== undefined) return refuse('blocked');
  const data = missedAt(guesses ?? noFailures(now), 'binding_code', now);
  return accept({ type: 'BindingCodeMissed', data });
}

/** Ends a block. How often there was one stays, so the next is not shorter. */
export function clearGuesses(now: Date, guesses: CodeGuesses): Decision<CodeGuessesEvent, never> {
  if (guesses === null || blockedUntil(guesses, now) === undefined) return accept();
  return accept({ type: 'CodeGuessesCleared', data: openedAt(guesses, now) });
}
