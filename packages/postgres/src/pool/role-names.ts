/**
 * All work at run time uses two roles: `cardea_app` sees one tenant at a time, `cardea_system` all. A process of one
 * service uses that service's own two roles, which have the same rights in its schema and none in others.
 */
import type { ServiceName } from '@cardea/contracts';

export const APP_ROLE = 'cardea_app';
export const SYSTEM_ROLE = 'cardea_system';

/** The setting of a transaction that names the tenant whose rows `cardea_app` sees. */
export const TENANT_SETTING = 'cardea.tenant';

export type RuntimeRoles = { readonly app: string; readonly system: string };

/** The roles of a process that runs only this service. Without a service, the roles of a process that runs several. */
export const rolesOf = (service?: ServiceName): RuntimeRoles =>
  service === undefined
    ? { app: APP_ROLE, system: SYSTEM_ROLE }
    : { app: `cardea_${service}_app`, system: `cardea_${service}_system` };
