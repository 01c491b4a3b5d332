/**
 * The users of an export, newest first, in pages. Each page is a statement of its own, so no connection is occupied
 * while the client reads. Users who are created during the export are left out.
 */
import type { CopiedRow, Database } from '@cardea/read-models';
import { type AdminUser, usersAfter } from '../users/administer/admin-users.ts';
import {
  copiedUsersAfter,
  type LastUser,
  lastOf,
  linesOf,
  PAGE_LINES_MAX,
} from './lines-of-users.ts';

const PAGE_USERS_MAX = 500;

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

/** Pages as JSON lines. PostgreSQL reads the next page while the current one is written. */
export async function* pagesOfLines(
  database: Database,
  of: { readonly tenantId: string; readonly now: Date },
): AsyncGenerator<{ readonly lines: Buffer; readonly count: number }, void> {
  const pageAfter = (after: LastUser | undefined) => {
    const page = copiedUsersAfter(database, { ...of, after });
    page.catch(() => {}); // The error is thrown below, unless the consumer has stopped.
    return page;
  };
  let next: ReturnType<typeof pageAfter> | undefined = pageAfter(undefined);
  while (next !== undefined) {
    const rows: readonly CopiedRow[] = await next;
    next = rows.length < PAGE_LINES_MAX ? undefined : pageAfter(lastOf(rows));
    if (rows.length > 0) yield { lines: linesOf(rows), count: rows.length };
  }
}
