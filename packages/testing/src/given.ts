/**
 * `given(stream, …events).when(decide).accepts(…)`: tests a decision on a history. It uses only the pure functions of
 * one noun.
 */
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';

/** The part of a stream definition that folds events: see `Stream` in `@cardea/event-store`. */
type Folding<State, E> = {
  readonly initial: State;
  readonly evolve: (state: State, event: E) => State;
};
type Made<E, Reason> =
  | { readonly accepted: true; readonly events: readonly E[] }
  | { readonly accepted: false; readonly reason: Reason; readonly events: readonly E[] };

export function given<State, E>(stream: Folding<State, E>, ...history: readonly NoInfer<E>[]) {
  const state = history.reduce(stream.evolve, stream.initial);
  return {
    state,
    when: <Reason extends string>(decide: (state: State) => Made<E, Reason>) =>
      outcome(stream, state, decide),
  };
}

function outcome<State, E, Reason extends string>(
  stream: Folding<State, E>,
  before: State,
  decide: (state: State) => Made<E, Reason>,
) {
  const frozen = structuredClone(before);
  const decision = decide(before);
  expect(isDeepStrictEqual(before, frozen), 'a decision leaves the state alone').toBe(true);
  return {
    decision,
    /** The state after the decided events. */
    state: decision.events.reduce(stream.evolve, before),
    /** Accepted with exactly these events. */
    accepts: (...events: readonly E[]) => {
      expect(decision).toEqual({ accepted: true, events });
    },
    /** Refused for this reason, with exactly these events. */
    refuses: (reason: Reason, ...events: readonly E[]) => {
      expect(decision).toEqual({ accepted: false, reason, events });
    },
  };
}
