/**
 * What each call of a user can change, written a second time from the product's documents
 * (`docs/design/bounds.md`, P2). The contracts are compared with it.
 */

/**
 * A setting, with the kind of tokens that must show a recent sign-in; or a thing, with the scope that an application
 * needs.
 */
export type Class =
  | `settings ${'users' | 'applications' | 'none'}`
  | `things ${'account' | 'roles' | 'any'}`;

/** The first row that matches `METHOD /path` counts; paths are written without `/api/v1`. */
export const classes: readonly (readonly [RegExp, Class])[] = [
  // The user's own account. A password, a consent and a delegation follow the requirements of the contract.
  [/^POST \/user\/change-password$/, 'settings none'],
  [/^POST \/user\/(email|deletion)$/, 'settings users'],
  [
    /^(POST \/user\/email\/verify|DELETE \/user\/(email|deletion)|GET \/user\/export)$/,
    'settings none',
  ],
  [/^POST \/auth\/step-up$/, 'settings none'],
  [/^(POST \/me\/mfa\/totp\/\{id\}\/confirm|PATCH \/me\/passkeys\/\{id\})$/, 'settings none'],
  [/^(POST|DELETE) \/me\/(mfa|passkeys|identities)/, 'settings users'],
  [/^DELETE \/auth\/consents/, 'settings none'],
  [/^(POST|DELETE) \/me\/delegations/, 'settings none'],
  [/^\w+ \/(user|me|auth)\//, 'things account'],
  // Accounts of others.
  [/^POST \/admin\/users\/\{id\}\/revoke-sessions$/, 'things roles'],
  [/^DELETE \/admin\/users\/\{id\}\/sessions\/\{session_id\}$/, 'things roles'],
  [/^POST \/admin\/users\/\{id\}\/reset-password$/, 'settings none'],
  [/^GET \/admin\/users/, 'things roles'],
  [/^\w+ \/admin\/users/, 'settings users'],
  // How the tenant is run, and who acts for whom.
  [/^GET \/admin\/(tenants|organization)/, 'things roles'],
  [/^GET \/(admin\/|api-keys)/, 'things account'],
  [/^\w+ \/(admin\/|api-keys)/, 'settings users'],
  [/^GET \/agents\/\{id\}\/keys$/, 'things account'],
  [/^GET \/agents/, 'things roles'],
  [/^\w+ \/agents/, 'settings none'],
  [/^\w+ \/agent\/sessions/, 'things account'],
  // Where events and secrets go. The contract gives webhooks to every administrator's login token.
  [
    /^(POST \/webhooks(\/\{id\}\/rotate-secret)?|DELETE \/webhooks\/\{id\})$/,
    'settings applications',
  ],
  [/^PATCH \/webhooks\/\{id\}$/, 'settings users'],
  [/^\w+ \/webhooks/, 'things roles'],
  [/^(GET|DELETE) \/vault\/grants/, 'things roles'],
  [/^(GET \/vault\/|POST \/vault\/approval-policies\/evaluate$)/, 'things roles'],
  [/^\w+ \/vault\//, 'settings users'],
  // Tuples, decisions, the audit log.
  [/^(POST|DELETE) \/fga\/tuples/, 'things roles'],
  [/^(\w+ \/fga\/model|POST \/fga\/dry-run)/, 'things roles'],
  [/^\w+ \/fga\//, 'things any'],
  [/^GET \/ciba\/requests$/, 'things roles'],
  [/^(POST \/ciba\/channels|(PATCH|DELETE) \/ciba\/channels\/\{id\})$/, 'settings users'],
  [/^(PUT|DELETE) \/ciba\/deput(y|ies\/\{user_id\})$/, 'settings users'],
  [/^GET \/ciba\/deputies$/, 'things roles'],
  [/^\w+ \/ciba\//, 'things account'],
  [/^\w+ \/audit\//, 'things roles'],
];
