/**
 * The work that one request may still cause. Each request has one budget: all its evaluations, first and
 * repeated, take from it, and they stop when the client has disconnected.
 */

/** Computing of one request, over all of its walks. */
export const COMPUTING_MAX_MS = 2_000;
/** The total time that one request waits for its turns. */
const WAITING_MAX_MS = 10_000;

export class Work {
  readonly tenantId: string;
  readonly #signal: AbortSignal | undefined;
  #computedMs = 0;
  #waitedMs = 0;

  /** Without a signal nobody leaves. */
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

  /** Throws where nobody waits for the answer any more. */
  expectClient(): void {
    if (this.isAbandoned) throw new ClientGone();
  }

  /** Calls back once the client is gone; returns what ends that. */
  whenAbandoned(callback: () => void): () => void {
    this.#signal?.addEventListener('abort', callback, { once: true });
    return () => this.#signal?.removeEventListener('abort', callback);
  }
}

/** Nobody reads the answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}
