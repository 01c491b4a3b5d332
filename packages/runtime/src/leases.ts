/** The right to perform work that only one process may perform, until `lost` aborts or the lease is released. */
export type Lease = {
  readonly lost: AbortSignal;
  readonly release: () => Promise<void>;
};

/** Decides which of several processes holds a name, and delivers their notices. */
export interface Leases {
  /** Waits until only this caller holds the name. Returns undefined when the signal aborts before. */
  hold(name: string, signal: AbortSignal): Promise<Lease | undefined>;
  /** The listener gets undefined when notices may have been missed. Returns the function that removes it. */
  listen(channel: string, listener: (payload: string | undefined) => void): () => void;
}
