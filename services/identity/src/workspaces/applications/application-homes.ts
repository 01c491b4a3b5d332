/** Finds where users of a tenant continue: the origins of the tenant's own web applications, at which they sign in. */
import type { RowOf } from '@cardea/read-models';
import type { ServiceDependencies } from '@cardea/service';
import { applicationRows } from '../tenants/workspaces.projection.ts';

type ApplicationHome = { readonly name: string; readonly href: string };

/** The most applications that a page links to, so that it does not become a directory. */
const HOMES_MAX = 3;

const HOME = applicationRows.select('name', 'redirect_uris');

/**
 * The tenant's own web applications, oldest first. Third-party applications are left out, because a page of the tenant
 * does not recommend them.
 */
export async function applicationHomes(
  { database }: Pick<ServiceDependencies, 'database'>,
  tenantId: string,
): Promise<readonly ApplicationHome[]> {
  const { rows } = await database.asTenant(tenantId, (sql) =>
    sql.query<RowOf<typeof HOME>>(
      `SELECT ${HOME.columns} FROM identity.applications
       WHERE tenant_id = $1 AND deleted_at IS NULL AND first_party AND type IN ('spa', 'web')
       ORDER BY created_at, id LIMIT ${HOMES_MAX}`,
      [tenantId],
    ),
  );
  return rows.flatMap(({ name, redirect_uris }) => {
    const href = homeOf(redirect_uris[0]);
    return href === undefined ? [] : [{ name, href }];
  });
}

/** Returns undefined for an application on a device, which no page can open. */
export function homeOf(redirectUri: string | undefined): string | undefined {
  if (redirectUri === undefined) return undefined;
  const { protocol, origin } = new URL(redirectUri);
  return protocol === 'https:' || protocol === 'http:' ? `${origin}/` : undefined;
}
