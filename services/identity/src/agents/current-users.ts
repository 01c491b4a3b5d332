/**
 * Returns the current state of persons for approval, from their own streams. After the withdrawal of a role or a vouch
 * was answered, it no longer counts.
 */
import type { Person, UsersRequest } from '@cardea/contracts';
import type { Database } from '@cardea/read-models';
import type { Peers } from '@cardea/service';
import { exists, users } from '../accounts/accounts.module.ts';
import type { SnapshotCache } from '../streams/snapshot-cache.ts';

type Dependencies = { readonly database: Database; readonly snapshots: SnapshotCache };

/** One more than the largest set of approvers, so that the caller sees when there are too many. */
const WITH_ROLE_MAX = 101;

export const currentUsers =
  ({ database, snapshots }: Dependencies): Peers['identity']['people'] =>
  async ({ tenantId, userIds, role }) => {
    const ids = [...new Set([...(userIds ?? []), ...(await withRole(database, tenantId, role))])];
    const found = await Promise.all(
      ids.map(async (id): Promise<readonly Person[]> => {
        const user = await snapshots.load(users, { tenantId, id });
        if (!exists(user)) return [];
        const { status, vouched, roles } = user;
        return [{ id, status, vouched, roles }];
      }),
    );
    return { people: found.flat().filter((person) => hasRole(person, role)) };
  };

const hasRole = ({ roles }: Person, role: UsersRequest['role']): boolean =>
  role === undefined || roles.includes(role);

/** Reads the table. A row is written before the change of its role is answered. */
async function withRole(
  database: Database,
  tenantId: string,
  role: UsersRequest['role'],
): Promise<readonly string[]> {
  if (role === undefined) return [];
  const { rows } = await database.tenant(tenantId).query<{ id: string }>(
    `SELECT id FROM identity.users WHERE tenant_id = $1 AND roles @> ARRAY[$2]
     ORDER BY id LIMIT ${WITH_ROLE_MAX}`,
    [tenantId, role],
  );
  return rows.map(({ id }) => id);
}
