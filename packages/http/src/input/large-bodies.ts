/**
 * The share of large bodies. A body above the ordinary limit takes memory while it arrives and blocks all
 * requests while it is parsed, so few are accepted at once, of one tenant fewer, and parsing rests between two.
 */
import { FairShares, type GiveBack } from '@cardea/runtime';
import { BODY_MAX_BYTES } from './body.ts';

/** For 8 MiB each; a single tenant has two. */
const PLACES = { places: 8, perFreePlace: 1 / 3 };
/** After a large body was parsed, none is parsed for so many times as long. */
const REST_TIMES = 4;

/** True where the headers show, or do not rule out, a body above the ordinary limit. */
export const mayBeLarge = (headers: {
  readonly 'content-length'?: string | undefined;
  readonly 'transfer-encoding'?: string | undefined;
}): boolean =>
  headers['transfer-encoding'] !== undefined ||
  Number(headers['content-length'] ?? 0) > BODY_MAX_BYTES;

export class LargeBodies {
  readonly #places = new FairShares(PLACES);
  #rested: Promise<void> = Promise.resolve();

  /** Undefined where the tenant has its share, or there is no place. */
  take(tenantId: string): GiveBack | undefined {
    return this.#places.take(tenantId);
  }

  /** One after the other, with rests in between in which other requests go on. */
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
