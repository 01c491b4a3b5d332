import { SERVICE_NAMES, type ServiceName } from '../envelope.ts';

/**
 * The services whose topics each service reads besides its own. Its logins may read no others. The row-level security
 * of schema `bus` repeats this in its migrations.
 */
export const LISTENS_TO: { readonly [reader in ServiceName]: readonly ServiceName[] } = {
  // Approved access requests extend what agents may reach.
  identity: ['approval'],
  authz: ['identity'],
  vault: ['identity', 'approval'],
  approval: ['identity'],
  webhooks: ['identity', 'vault', 'approval'],
  audit: SERVICE_NAMES,
};
