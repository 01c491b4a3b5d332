import { hash } from 'node:crypto';

/** RFC 7638: the thumbprint of a public key's required members, which callers pass in lexical order. */
export const jwkThumbprint = (members: { readonly [member: string]: string }): string =>
  hash('sha256', JSON.stringify(members), 'base64url');
