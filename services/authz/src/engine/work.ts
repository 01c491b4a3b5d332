/**
 * Limits the work of one request. All its evaluations, including repeated ones, share one budget, and they stop when
 * the client has disconnected.
 */

/** The computing time of one request, over all of its walks. */
export const COMPUTING_MAX_MS = 2_000;
/** The total time that one request waits for its turns. */
const WAITING_MAX_MS = 10_000;

export class Work {
  readonly tenantId: string;
  readonly #signal: AbortSignal | undefined;
  #computedMs = 0;
  #waitedMs = 0;

  /** Without a signal, the client never counts as disconnected. */
  constructor(tenantId: string, signal?: AbortSignal) {
    this.tenantId = tenantId;
    this.#signal = signal;
  }

  get isAbandoned(): boolean {
    return this.#signal?.aborted === true;
  }

  get isSpent(): boolean {
    return this.#computedMs >= COMPUTING_MAX_MS;
  }

  computed(ms: number): void {
    this.#computedMs += ms;
  }

  get waitLeftMs(): number {
    return Math.max(0, WAITING_MAX_MS - this.#waitedMs);
  }

  waited(ms: number): void {
    this.#waitedMs += ms;
  }

  /** Throws if the client has disconnected. */
  expectClient(): void {
    if (this.isAbandoned) throw new ClientGone();
  }

  /** Calls back when the client has disconnected. Returns a function that cancels this. */
  whenAbandoned(callback: () => void): () => void {
    this.#signal?.addEventListener('abort', callback, { once: true });
    return () => this.#signal?.removeEventListener('abort', callback);
  }
}

/** The client has disconnected. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}
