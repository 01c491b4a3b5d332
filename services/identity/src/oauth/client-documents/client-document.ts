/**
 * A client that describes itself by a document at its own address (Client ID Metadata Documents). Nobody has registered
 * such a client, so only a name and redirect URIs are read from its document. It is a public client, belongs to no
 * tenant, and its user is asked for consent every time.
 */
import { checkRedirectUri } from '../../workspaces/workspaces.module.ts';

export type ClientDocument = { readonly name: string; readonly redirectUris: readonly string[] };

const NAME_CHARACTERS_MAX = 128;
const REDIRECT_URIS_MAX = 50;
const SCOPE = 'openid profile email offline_access';

/** Whether a client id is the address of a document. Ids of registered applications never are. */
export const isDocumentId = (clientId: string): boolean => clientId.startsWith('https://');

/** Returns undefined for a text that describes no client, or a client that is not public. */
export function readDocument(id: string, text: string): ClientDocument | undefined {
  const read = objectOf(text);
  if (read === undefined || read['client_id'] !== id) return undefined;
  const { token_endpoint_auth_method: method = 'none', grant_types, response_types } = read;
  if (method !== 'none' || 'client_secret' in read) return undefined;
  if (!isListWith(grant_types, 'authorization_code') || !isListWith(response_types, 'code')) {
    return undefined;
  }
  const redirectUris = usableOf(read['redirect_uris']);
  return redirectUris.length === 0
    ? undefined
    : { name: nameOf(read['client_name'], id), redirectUris };
}

const AS_DOCUMENT = { type: 'document', isDevelopment: false } as const;

/**
 * Vendors publish one document for all authorization servers, so redirect URIs that Cardea cannot use are left out.
 * Programs on the person's own machine publish `localhost` (RFC 8252, 7.3); the consent page warns of it.
 */
function usableOf(uris: unknown): readonly string[] {
  const isUsable = (uri: unknown): uri is string =>
    typeof uri === 'string' && 'kind' in checkRedirectUri(uri, AS_DOCUMENT);
  return Array.isArray(uris) ? uris.filter(isUsable).slice(0, REDIRECT_URIS_MAX) : [];
}

/**
 * The client's metadata in the form of the authorization server's library. The document cannot change any of the other
 * values.
 */
export const documentMetadata = (id: string, { name, redirectUris }: ClientDocument) => ({
  client_id: id,
  client_name: name,
  application_type: 'native',
  redirect_uris: [...redirectUris],
  response_types: ['code'],
  grant_types: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_method: 'none',
  scope: SCOPE,
});

function objectOf(text: string): { readonly [field: string]: unknown } | undefined {
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === 'object' && read !== null && !Array.isArray(read)
      ? (read as { readonly [field: string]: unknown })
      : undefined;
  } catch {
    return undefined;
  }
}

/** A field that is missing has the default value of its standard. */
const isListWith = (list: unknown, value: string): boolean =>
  list === undefined || (Array.isArray(list) && list.includes(value));

/** A client can invent its name, but not the host of its address. */
function nameOf(given: unknown, id: string): string {
  const { host } = new URL(id);
  const name = typeof given === 'string' ? given.replaceAll(/\p{C}/gu, '').trim() : '';
  return name === '' ? host : `${name.slice(0, NAME_CHARACTERS_MAX)}`;
}
