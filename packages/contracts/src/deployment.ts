/** The tenant of events that belong to no tenant: slugs, sign-ups, signing keys. */
export const DEPLOYMENT_TENANT = 'deployment';

/**
 * The tenant of the first administrator. The id is the same in every deployment, and is used before the tenant exists.
 * Its audit log contains the events of the deployment as a whole.
 */
export const BOOTSTRAP_TENANT_ID = '1e36ea5c-1818-5de0-87a6-16b28398c877';
