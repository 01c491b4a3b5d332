import type { ServiceName } from '@cardea/contracts';

/** The folder of each service below `services`. */
export const SERVICE_FOLDERS: { readonly [name in ServiceName]: string } = {
  identity: 'identity',
  authz: 'authz',
  vault: 'vault',
  approval: 'approval',
  webhooks: 'webhook-dispatcher',
  audit: 'audit-projector',
};
