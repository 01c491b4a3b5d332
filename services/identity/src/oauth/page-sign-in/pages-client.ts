/**
 * The OAuth client through which people sign in to Cardea's own pages. Each tenant has one. It has no stream, appears
 * in no list and needs no consent. Nobody can authenticate as this client, because identity itself redeems its codes.
 */
import { CALLBACK_PATH } from '@cardea/pages';
import type { GivenConsent } from '../../consents/consents.module.ts';
import { firstSecret } from '../../streams/key-secret.ts';
import type { ExistingApplication } from '../../workspaces/workspaces.module.ts';

const PREFIX = 'pages.';
const CONSENT_PREFIX = 'pages:';
/** Maximum lifetime of the pages' access token, in seconds. */
export const PAGE_TOKEN_SECONDS_MAX = 900;
export const PAGE_SCOPES = ['openid', 'profile', 'roles', 'account'] as const;

type User = { readonly tenantId: string; readonly userId: string };

export const pagesClientId = (tenantId: string): string => `${PREFIX}${tenantId}`;
export const tenantOfPagesClient = (clientId: string): string | undefined =>
  clientId.startsWith(PREFIX) ? clientId.slice(PREFIX.length) : undefined;

export const pagesCallback = (publicUrl: string): string => `${publicUrl}${CALLBACK_PATH}`;

export const pagesClient = (tenantId: string, publicUrl: string): ExistingApplication => ({
  id: pagesClientId(tenantId),
  name: 'Cardea',
  type: 'web',
  status: 'active',
  environment: 'production',
  redirect_uris: [pagesCallback(publicUrl)],
  post_logout_redirect_uris: [],
  backchannel_logout_uri: null,
  backchannel_logout_session_required: false,
  allowed_origins: [],
  grant_types: ['authorization_code'],
  scopes: PAGE_SCOPES,
  claims: [],
  first_party: true,
  require_par: false,
  require_pkce: true,
  id_token_signed_response_alg: 'EdDSA',
  userinfo_signed_response_alg: null,
  dpop_bound_access_tokens: false,
  branding: {},
  jwks: [],
  roles: [],
  machine_scopes: [],
  publishable_key: '',
  created_at: new Date(0).toISOString(),
  version: 1,
  tokensBefore: 0,
  previousKey: null,
  // The hash of an empty text, which no secret matches.
  secret: firstSecret(''),
  requestHash: null,
});

/** The consent that every user is taken to have given: the pages only show the user's own account. */
export function pagesConsent({ tenantId, userId }: User, resource: string): GivenConsent {
  // The scopes belong to OpenID Connect and to the resource, and the library checks each of them for both.
  const granted = { '': PAGE_SCOPES, [resource]: PAGE_SCOPES };
  const clientId = pagesClientId(tenantId);
  return {
    status: 'active',
    id: `${CONSENT_PREFIX}${tenantId}:${userId}`,
    userId,
    clientId,
    granted,
    claims: [],
    epoch: PAGES_CONSENT_EPOCH,
    grantedAt: new Date(0).toISOString(),
    revokedAt: null,
  };
}

export const PAGES_CONSENT_EPOCH = 1;

/** Returns undefined for the id of an ordinary consent. */
export function userOfPagesConsent(id: string): User | undefined {
  if (!id.startsWith(CONSENT_PREFIX)) return undefined;
  const [tenantId = '', userId = ''] = id.slice(CONSENT_PREFIX.length).split(':');
  return { tenantId, userId };
}
