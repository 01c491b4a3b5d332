/**
 * The users of an export, newest first: each page is read when the one before has been sent, so no connection is
 * held while the client reads. Users who are created later are left out.
 */
import type { Database } from '@cardea/read-models';
import { type AdminUser, linesOfUsersAfter, usersAfter } from '../users/administer/admin-users.ts';

const PAGE_USERS_MAX = 500;
/** Lines are text alone, of which more may wait for the client. */
const PAGE_LINES_MAX = 1_000;

export async function countUsers(database: Database, tenantId: string): Promise<number> {
  const { rows } = await database
    .tenant(tenantId)
    .query<{ rows: number }>(
      'SELECT count(*)::integer AS rows FROM identity.users WHERE tenant_id = $1',
      [tenantId],
    );
  return rows[0]?.rows ?? 0;
}

export async function* pagesOfUsers(
  database: Database,
  of: { readonly tenantId: string; readonly now: Date },
): AsyncGenerator<readonly AdminUser[], void> {
  let after: { readonly created_at: string; readonly id: string } | undefined;
  do {
    const page: readonly AdminUser[] = await usersAfter(database, {
      ...of,
      after,
      limit: PAGE_USERS_MAX,
    });
    if (page.length > 0) yield page;
    after = page.length < PAGE_USERS_MAX ? undefined : page.at(-1);
  } while (after !== undefined);
}

/** The same as lines of JSON. */
export async function* pagesOfLines(
  database: Database,
  of: { readonly tenantId: string; readonly now: Date },
): AsyncGenerator<{ readonly text: string; readonly count: number }, void> {
  let after: { readonly createdAt: Date; readonly id: string } | undefined;
  do {
    const { text, count, last } = await linesOfUsersAfter(database, {
      ...of,
      after,
      limit: PAGE_LINES_MAX,
    });
    if (count > 0) yield { text, count };
    after = count < PAGE_LINES_MAX ? undefined : last;
  } while (after !== undefined);
}
