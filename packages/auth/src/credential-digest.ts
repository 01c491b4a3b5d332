/** Digests of credentials. Caches use them as keys, so that no cache contains a credential. */
import { hash } from 'node:crypto';

export const credentialDigest = (credential: string): string =>
  hash('sha256', credential, 'base64url');

/**
 * Most clients send one credential with all requests of a connection, so it is hashed once per connection. A proxy may
 * send the credentials of several callers over one connection. A map finds them by a hash with a secret seed, so its
 * time does not reveal how similar two credentials are.
 */
export function connectionDigests(digestOf = credentialDigest) {
  /** The last credential of each connection. It is forgotten with the connection. */
  const lastOf = new WeakMap<object, ReadonlyMap<string, string>>();
  return (credential: string, connection: object | undefined): string => {
    const known = connection && lastOf.get(connection)?.get(credential);
    if (known !== undefined) return known;
    const digest = digestOf(credential);
    if (connection !== undefined) lastOf.set(connection, new Map([[credential, digest]]));
    return digest;
  };
}
