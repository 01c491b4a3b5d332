import { hash } from 'node:crypto';

/** RFC 7638: of the required members of a public key, which callers give in lexical order. */
export const jwkThumbprint = (members: { readonly [member: string]: string }): string =>
  hash('sha256', JSON.stringify(members), 'base64url');
