import type { Request } from '@cardea/http';
import { alreadyCreated } from '@cardea/service';
import type { UserDirectory } from '../user-directory.ts';
import { exists } from './user.ts';

/** The answer to a repeat under the same Idempotency-Key; a secret is shown only in the first answer. */
export async function repeatedCreation(
  needs: { readonly userDirectory: Pick<UserDirectory, 'byId'> },
  request: Request<unknown, unknown, unknown>,
  { tenantId, userId }: { readonly tenantId: string; readonly userId: string },
) {
  if (request.idempotency === undefined) return undefined;
  const user = await needs.userDirectory.byId(tenantId, userId);
  // It was created and deleted since: the key of an erased user can encrypt nothing any more.
  return user.status === 'deleted' || exists(user) ? alreadyCreated(userId) : undefined;
}
