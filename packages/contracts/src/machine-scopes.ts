/**
 * The scopes of machines: applications that call Cardea's own API in their own name, with a token of the grant
 * `client_credentials`. Every endpoint that accepts a role or an API key names one of these scopes, or none.
 */
export const MACHINE_SCOPES = [
  'audit:read',
  'audit:write',
  'webhooks:read',
  'webhooks:write',
  'approvals:read',
  'fga:write',
  'model:read',
  'model:write',
  'users:read',
  'users:write',
  'agents:read',
  'agents:write',
  'vault:read',
  'vault:write',
  'vault:grant',
  'tokens:introspect',
  'applications:read',
  'applications:write',
  'settings:read',
  'settings:write',
  'providers:read',
  'providers:write',
  'scim',
] as const;
export type MachineScope = (typeof MACHINE_SCOPES)[number];
