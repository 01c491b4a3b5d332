/**
 * Counts the wrong binding codes of one approver over all requests. A request ends at its third wrong code, but there
 * is always another request to guess at. Each block is longer than the previous one, as it is for passwords.
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

/** The stream's id is `guesses-<user>`. */
export const codeGuesses: Stream<CodeGuesses, CodeGuessesEvent> = {
  noun: 'guesses',
  initial: null,
  stateCarrying: true,
  evolve: (_before, { data }) => data,
};

/** The user whose wrong codes the stream counts. */
export const guesserOf = ({ streamId }: Pick<Recorded<CodeGuessesEvent>, 'streamId'>): string =>
  streamId.slice(codeGuesses.noun.length + 1);

/** A wrong code that begins a block. The next wrong code can only follow when the block is over. */
export const beginsBlock = ({ data }: CodeGuessesEvent): boolean => data.blocked_until !== null;

/** The end of the block during which the approver may send no code. Undefined if there is no block. */
export function blockedUntil(guesses: CodeGuesses, now: Date): Date | undefined {
  if (guesses === null || !isAccountBlocked(guesses, now)) return undefined;
  return guesses.blocked_until === null ? undefined : new Date(guesses.blocked_until);
}

/** Records a wrong code, unless the approver is blocked. While they are blocked, no code is compared for them. */
export function missCode(now: Date, guesses: CodeGuesses): Decision<CodeGuessesEvent, 'blocked'> {
  if (blockedUntil(guesses, now) !== undefined) return refuse('blocked');
  const data = missedAt(guesses ?? noFailures(now), 'binding_code', now);
  return accept({ type: 'BindingCodeMissed', data });
}

/** Ends a block. The number of earlier blocks remains, so the next block is not shorter. */
export function clearGuesses(now: Date, guesses: CodeGuesses): Decision<CodeGuessesEvent, never> {
  if (guesses === null || blockedUntil(guesses, now) === undefined) return accept();
  return accept({ type: 'CodeGuessesCleared', data: openedAt(guesses, now) });
}
