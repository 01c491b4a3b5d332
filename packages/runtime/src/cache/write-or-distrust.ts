import { type Cache, CacheUnavailable } from '../ports.ts';

/**
 * Writes a value on which other processes rely. If the cache does not accept it, all of them stop using their copies.
 * Throws CacheUnavailable if they cannot be notified either: then the change is not in force everywhere, and must not
 * be answered as done.
 */
export async function writeOrDistrust(
  cache: Pick<Cache, 'distrust'>,
  write: () => Promise<unknown>,
): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!(error instanceof CacheUnavailable)) throw error;
    await cache.distrust();
  }
}
