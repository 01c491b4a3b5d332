/**
 * Who may call what, written a second time from the product's documents. The endpoints are compared with
 * it, so that changing one word in a contract cannot open an endpoint unnoticed.
 */

type Right = { readonly who: string; readonly tenant: 'required' | 'optional' | 'none' };

const required = (who: string): Right => ({ who, tenant: 'required' });
const optional = (who: string): Right => ({ who, tenant: 'optional' });
const AREA_READ = (area: string) => required(`admin api_key:${area}:read`);
const AREA_WRITE = (area: string) => required(`admin api_key:${area}:write`);
const PUBLIC: Right = { who: 'anyone', tenant: 'none' };

/** The first row that matches `METHOD /path` counts; paths are written without `/api/v1`. */
export const access: readonly (readonly [RegExp, Right])[] = [
  // Accounts (`docs/contract.md` 4.1, 4.2, 5.8).
  [/^POST \/auth\/(signup|identify)$/, PUBLIC],
  [/^GET \/auth\/(reset-password|magic-link\/verify|invitations\/accept)$/, PUBLIC],
  [/^GET \/auth\/email-change\/(verify|stop)$/, PUBLIC],
  [/^POST \/auth\/email-change\/(verify|stop)$/, optional('anyone')],
  [/^POST \/auth\/(login|forgot-password|magic-link|otp\/(send|verify))$/, required('anyone')],
  [/^POST \/auth\/(register|refresh|reset-password|magic-link\/verify)$/, optional('anyone')],
  [/^POST \/auth\/passkeys\/(options|verify)$/, required('anyone')],
  [
    /^POST \/auth\/(register|refresh|reset-password|magic-link\/verify|invitations\/accept)$/,
    optional('anyone'),
  ],
  [/^POST \/auth\/mfa\/(challenge|verify)$/, optional('anyone')],
  [/^(GET|POST) \/auth\/verify-email$/, optional('anyone')],
  [/^GET \/auth\/social\/\{provider\}\/(authorize|callback)$/, PUBLIC],
  [/^POST \/auth\/social\/exchange$/, optional('anyone')],
  [/^(GET|DELETE) \/dev\/mailbox$/, PUBLIC],
  // Pages read the cookie of a browser, and call other endpoints with its token.
  [/^(GET|POST) \/(account|approve)(\/|$)/, PUBLIC],
  [/^GET \/\.well-known\//, PUBLIC],
  [/^POST \/auth\/(step-up|resend-verification)$/, optional('user')],
  [/^GET \/auth\/me$/, optional('user')],
  [/^\w+ \/auth\/consents/, optional('user')],
  [/^\w+ \/oauth2\//, PUBLIC],
  [/^\w+ \/(user|me)\//, optional('user')],
  // Administration.
  [/^\w+ \/admin\/(applications|resource-servers|scopes)/, required('admin')],
  [/^\w+ \/admin\/invitations/, required('admin')],
  [/^(GET|PATCH) \/admin\/organization$/, required('owner')],
  [/^\w+ \/admin\/keys/, required('system_admin')],
  [/^(GET|PATCH) \/admin\/tenants\/\{id\}$/, required('owner')],
  [/^POST \/admin\/users\/\{id\}\/reset-mfa$/, required('admin')],
  [/^\w+ \/admin\/tenants/, required('owner')],
  [/^GET \/admin\/users/, AREA_READ('users')],
  [/^POST \/admin\/users\/\{id\}\/(impersonate|unlock)$/, required('admin')],
  [/^(POST|PATCH|DELETE) \/admin\/users/, AREA_WRITE('users')],
  [/^\w+ \/api-keys/, required('admin')],
  [/^GET \/agents/, AREA_READ('agents')],
  [/^(POST|PATCH|DELETE) \/agents/, AREA_WRITE('agents')],
  // Agents at work (`docs/contract.md` 4.5).
  [/^POST \/agent\/sessions(\/\{id\}\/(tokens|credentials))?$/, required('agent_key')],
  [/^(GET|DELETE) \/agent\/sessions/, required('user agent_key agent_token')],
  // Tuples (`docs/contract.md` 5.4).
  [/^(POST|DELETE) \/fga\/tuples(\/batch)?$/, required('admin api_key:fga:write')],
  [/^GET \/fga\/model$/, AREA_READ('model')],
  [/^\w+ \/fga\/model/, AREA_WRITE('model')],
  [/^POST \/fga\/dry-run$/, required('admin api_key:fga:write')],
  [/^\w+ \/fga\//, required('user agent_token api_key:fga:read')],
  // Approval requests (`docs/contract.md` 4.6). Agents pass authentication to get the answer that a user has to decide.
  [/^GET \/ciba\/requests$/, required('admin')],
  [/^GET \/ciba\/pending$/, required('user')],
  [/^POST \/ciba\/requests\/\{id\}\/(approve|deny)$/, required('user agent_token agent_key')],
  [/^POST \/ciba\/requests\/\{id\}\/consume$/, required('agent_token agent_key')],
  [/^GET \/ciba\/token\//, required('user agent_token agent_key')],
  [/^POST \/ciba\/access-requests$/, required('agent_token agent_key')],
  [/^\w+ \/ciba\/(channels|deputy)/, required('user')],
  [/^\w+ \/ciba\/deputies/, required('admin')],
  [/^\w+ \/ciba\/requests/, required('user agent_token')],
  // The vault; an agent reads and ends its own grants.
  [/^GET \/vault\/grants/, required('admin api_key:vault:read agent_key')],
  [/^DELETE \/vault\/grants/, required('admin api_key:vault:write agent_key')],
  [/^(GET \/vault\/|POST \/vault\/approval-policies\/evaluate$)/, AREA_READ('vault')],
  [/^POST \/vault\/services\/\{name\}\/secrets\/\{field\}\/reveal$/, required('admin')],
  [/^\w+ \/vault\//, AREA_WRITE('vault')],
  // Webhooks and the audit log (`docs/contract.md` 5.5).
  [/^\w+ \/webhooks/, required('admin')],
  [/^GET \/audit\/events(\.csv)?$/, required('admin')],
];
