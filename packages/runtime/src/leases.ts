/** The right to do what only one process does, until `lost` aborts or it is released. */
export type Lease = {
  readonly lost: AbortSignal;
  readonly release: () => Promise<void>;
};

/** Decides which of several processes holds a name, and delivers their notices. */
export interface Leases {
  /** Waits until only this caller holds the name; undefined when the signal aborts before. */
  hold(name: string, signal: AbortSignal): Promise<Lease | undefined>;
  /** The listener gets undefined when notices may have been missed. Returns the function that ends it. */
  listen(channel: string, listener: (payload: string | undefined) => void): () => void;
}
