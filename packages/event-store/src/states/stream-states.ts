/** Streams for callers that only need their states. */

/** Any stream, for code that only needs its state. */
export type AnyStream = {
  readonly noun: string;
  readonly initial: unknown;
  readonly evolve: (state: never, event: never) => unknown;
  readonly stateCarrying?: boolean;
};

/** A loaded stream: its state, and the revision that decisions are based on. */
export type Loaded<State> = {
  readonly state: State;
  /** The stream's revision. It is 0 if the stream does not exist or belongs to another tenant. */
  readonly revision: number;
};

/** An existing stream. Its tenant is that of its events. */
export type Snapshot<State> = Loaded<State> & {
  readonly tenantId: string;
  /** The revision of the last event that contains the state; 0 if none is known. */
  readonly storedAt: number;
};
