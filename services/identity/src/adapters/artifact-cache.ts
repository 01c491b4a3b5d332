/**
 * Stores what the authorization server needs during a sign-in: codes, browser sessions, interactions. Entries are in
 * the shared cache under a hash of their id, encrypted. A reader of the cache obtains neither codes nor cookies.
 */
import { createSecretKey } from 'node:crypto';
import { type DerivedKeys, decrypt, encrypt, sha256 } from '@cardea/crypto';
import type { Cache } from '@cardea/runtime';

export type Artifact = { readonly [field: string]: unknown };

export type ArtifactCache = {
  readonly put: (model: string, id: string, value: Artifact, ttlSeconds: number) => Promise<void>;
  /** `used` is true if the artifact was consumed before. */
  readonly find: (
    model: string,
    id: string,
  ) => Promise<{ readonly value: Artifact; readonly used: boolean } | undefined>;
  /** Returns true for the first caller that consumes the artifact. */
  readonly use: (model: string, id: string, ttlSeconds: number) => Promise<boolean>;
  readonly remove: (model: string, id: string) => Promise<void>;
};

const MS = 1_000;

export function artifactCache(
  cache: Pick<Cache, 'delete' | 'getMany' | 'set' | 'setIfAbsent'>,
  keys: DerivedKeys,
): ArtifactCache {
  const secrets = [keys.current, keys.previous]
    .filter((key) => key !== undefined)
    .map((key) => createSecretKey(key));
  const nameOf = (model: string, id: string) => `op:${model}:${sha256(id).toString('base64url')}`;
  const opened = (name: string, sealed: string): Artifact | undefined => {
    for (const secret of secrets) {
      try {
        return JSON.parse(decrypt(secret, Buffer.from(sealed, 'base64url'), [name]).toString());
      } catch {
        // The entry was encrypted under another secret or was changed, so it counts as missing.
      }
    }
    return undefined;
  };
  return {
    put: async (model, id, value, ttlSeconds) => {
      const name = nameOf(model, id);
      const [current] = secrets;
      if (current === undefined) throw new Error('no key for artifacts');
      const sealed = encrypt(current, JSON.stringify(value), [name]).toString('base64url');
      await cache.set(name, sealed, ttlSeconds * MS);
    },
    find: async (model, id) => {
      const name = nameOf(model, id);
      const [sealed, used] = await cache.getMany([name, `${name}:used`]);
      const value = sealed === undefined ? undefined : opened(name, sealed);
      return value === undefined ? undefined : { value, used: used !== undefined };
    },
    use: (model, id, ttlSeconds) =>
      cache.setIfAbsent(`${nameOf(model, id)}:used`, '1', ttlSeconds * MS),
    remove: (model, id) => cache.delete(nameOf(model, id)),
  };
}
