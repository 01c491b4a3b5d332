/**
 * The users of an export, newest first, in pages. Each page is a statement of its own, so no connection is occupied
 * while the client reads. Users who are created during the export are left out.
 */
import type { Database, JsonLines } from '@cardea/read-models';
import { type AdminUser, usersAfter } from '../users/administer/admin-users.ts';
import { emptyPage, fillPage, type LastUser } from './lines-of-users.ts';

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

/**
 * Pages as JSON lines. PostgreSQL reads the next page while the current one is sent. The memory of a page is used again
 * when the next one is requested, because the garbage collector would need as much time as the conversion.
 */
export async function* pagesOfLines(
  database: Database,
  of: { readonly tenantId: string; readonly now: Date },
): AsyncGenerator<Pick<JsonLines, 'bytes' | 'count'>, void> {
  const filled = (page: JsonLines, after: LastUser | undefined): Promise<LastUser | undefined> => {
    const last = fillPage(database, page, { ...of, after });
    last.catch(() => {}); // The error is thrown below, unless the consumer has stopped.
    return last;
  };
  let [page, next] = [emptyPage(), emptyPage()];
  let last = await filled(page, undefined);
  while (last !== undefined) {
    const filling: Promise<LastUser | undefined> = filled(next, last);
    yield page;
    last = await filling;
    [page, next] = [next, page];
  }
  if (page.count > 0) yield page;
}
