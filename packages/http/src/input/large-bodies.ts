/**
 * Limits large bodies. A body above the ordinary limit takes memory while it arrives and blocks all requests while it
 * is parsed. So few are accepted at once, fewer per tenant, and there is a pause after each parse.
 */
import { FairShares, type GiveBack } from '@cardea/runtime';
import { BODY_MAX_BYTES } from './body.ts';

/** Places for 8 MiB each. One tenant alone gets at most two. */
const PLACES = { places: 8, perFreePlace: 1 / 3 };
/** After a large body was parsed, no other is parsed for this multiple of its parsing time. */
const REST_TIMES = 4;

/** True if the headers show, or do not rule out, a body above the ordinary limit. */
export const mayBeLarge = (headers: {
  readonly 'content-length'?: string | undefined;
  readonly 'transfer-encoding'?: string | undefined;
}): boolean =>
  headers['transfer-encoding'] !== undefined ||
  Number(headers['content-length'] ?? 0) > BODY_MAX_BYTES;

export class LargeBodies {
  readonly #places = new FairShares(PLACES);
  #rested: Promise<void> = Promise.resolve();

  /** Returns undefined if the tenant has used its share, or if no place is free. */
  take(tenantId: string): GiveBack | undefined {
    return this.#places.take(tenantId);
  }

  /** Parses one after another, with pauses in which other requests run. */
  async parsed<T>(parse: () => T): Promise<T> {
    const before = this.#rested;
    const rested = Promise.withResolvers<void>();
    this.#rested = rested.promise;
    await before;
    const startMs = performance.now();
    try {
      return parse();
    } finally {
      setTimeout(rested.resolve, REST_TIMES * (performance.now() - startMs));
    }
  }
}
