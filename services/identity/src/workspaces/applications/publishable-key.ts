/** Finds the tenant of a publishable key. This is one of the few lookups without a known tenant. */
import { parseKey } from '@cardea/crypto';
import type { ServiceDependencies } from '@cardea/service';

export type KeyedApplication = {
  readonly id: string;
  readonly tenant_id: string;
  readonly name: string;
  readonly environment: string;
  readonly branding: { readonly [name: string]: string | null };
};

export async function applicationOfKey(
  { clock, database }: Pick<ServiceDependencies, 'clock' | 'database'>,
  publishableKey: string,
): Promise<KeyedApplication | undefined> {
  if (parseKey(publishableKey)?.kind !== 'pk') return undefined;
  const { rows } = await database.system.query<KeyedApplication>(
    {
      name: 'identity_application_of_key',
      text: `SELECT id, tenant_id, name, environment, branding FROM identity.applications
       WHERE (publishable_key = $1 OR (previous_key = $1 AND previous_until > $2))
         AND deleted_at IS NULL`,
    },
    [publishableKey, clock.now()],
  );
  return rows[0];
}

export async function tenantOfPublishableKey(
  needs: Pick<ServiceDependencies, 'clock' | 'database'>,
  publishableKey: string,
): Promise<string | undefined> {
  return (await applicationOfKey(needs, publishableKey))?.tenant_id;
}
