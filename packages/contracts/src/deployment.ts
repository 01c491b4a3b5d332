/** Tenant of events that belong to no tenant: slugs, sign-ups, signing keys. */
export const DEPLOYMENT_TENANT = 'deployment';

/**
 * The tenant of the first administrator: the same in every deployment, whether it was made yet or not.
 * Its audit log shows what happens to the deployment as a whole.
 */
export const BOOTSTRAP_TENANT_ID = '1e36ea5c-1818-5de0-87a6-16b28398c877';
