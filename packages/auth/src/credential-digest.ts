/** Digests of credentials: caches know them by these, so that none of them keeps a credential. */
import { hash } from 'node:crypto';

export const credentialDigest = (credential: string): string =>
  hash('sha256', credential, 'base64url');

/**
 * Most clients send one credential with all requests of a connection, so it is hashed once per connection. A
 * proxy may send those of several callers over one: a map looks for them by a hash with a secret seed, so how
 * long that takes does not tell how far two of them are alike.
 */
export function connectionDigests(digestOf = credentialDigest) {
  /** The credential that came last on each connection. It is forgotten together with the connection. */
  const lastOf = new WeakMap<object, ReadonlyMap<string, string>>();
  return (credential: string, connection: object | undefined): string => {
    const known = connection && lastOf.get(connection)?.get(credential);
    if (known !== undefined) return known;
    const digest = digestOf(credential);
    if (connection !== undefined) lastOf.set(connection, new Map([[credential, digest]]));
    return digest;
  };
}
