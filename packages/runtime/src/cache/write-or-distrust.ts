import { type Cache, CacheUnavailable } from '../ports.ts';

/**
 * Writes what other processes rely on. If the cache does not take it, all of them stop using what they
 * copied from it. Throws CacheUnavailable if they cannot be told either: then the change is not in force
 * everywhere, and must not be answered as done.
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
