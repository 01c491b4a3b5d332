/**
 * What a machine may call and by which scope, written a second time from the product's documents. The
 * contracts are compared with it, so that changing one word in a contract cannot open an endpoint unnoticed.
 */
import type { MachineRule } from '@cardea/http';

/** The first row that matches `METHOD /path` counts; paths are written without `/api/v1`. */
export const machineRules: readonly (readonly [RegExp, MachineRule])[] = [
  // Keys and the endpoints that issue them, other tenants, factors of others, secrets, impersonation.
  [/^\w+ \/api-keys/, 'never'],
  [/^\w+ \/admin\/(keys|organization)/, 'never'],
  [/^(POST|DELETE) \/admin\/tenants/, 'never'],
  [/^GET \/admin\/tenants$/, 'never'],
  [/^POST \/admin\/users\/\{id\}\/(impersonate|unlock|reset-mfa)$/, 'never'],
  [/^POST \/vault\/services\/\{name\}\/secrets\/\{field\}\/reveal$/, 'never'],
  // The machine's own tenant.
  [/^GET \/admin\/tenants\/\{id\}$/, 'settings:read'],
  [/^PATCH \/admin\/tenants\/\{id\}$/, 'settings:write'],
  [/^GET \/admin\/(applications|resource-servers|scopes)/, 'applications:read'],
  [/^\w+ \/admin\/(applications|resource-servers)/, 'applications:write'],
  [/^GET \/admin\/(users|invitations)/, 'users:read'],
  [/^\w+ \/admin\/(users|invitations)/, 'users:write'],
  [/^GET \/agents/, 'agents:read'],
  [/^\w+ \/agents/, 'agents:write'],
  // Questions that everybody in the tenant may ask; tuples and the model.
  [/^GET \/fga\/model/, 'model:read'],
  [/^\w+ \/fga\/model/, 'model:write'],
  [/^(POST|DELETE) \/fga\/tuples/, 'fga:write'],
  [/^POST \/fga\/dry-run$/, 'fga:write'],
  [/^\w+ \/fga\//, 'any'],
  [/^DELETE \/ciba\/deputies/, 'never'],
  [/^GET \/ciba\/(requests|deputies)$/, 'approvals:read'],
  [/^(GET \/vault\/|POST \/vault\/approval-policies\/evaluate$)/, 'vault:read'],
  [/^\w+ \/vault\//, 'vault:write'],
  [/^GET \/webhooks/, 'webhooks:read'],
  [/^\w+ \/webhooks/, 'webhooks:write'],
  [/^GET \/audit\//, 'audit:read'],
];
