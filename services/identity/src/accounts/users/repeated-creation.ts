import type { Request } from '@cardea/http';
import { alreadyCreated } from '@cardea/service';
import type { UserDirectory } from '../user-directory.ts';
import { exists } from './user.ts';

/** The response to a repeat under the same Idempotency-Key. Only the first response shows a secret. */
export async function repeatedCreation(
  needs: { readonly userDirectory: Pick<UserDirectory, 'byId'> },
  request: Request<unknown, unknown, unknown>,
  { tenantId, userId }: { readonly tenantId: string; readonly userId: string },
) {
  if (request.idempotency === undefined) return undefined;
  const user = await needs.userDirectory.byId(tenantId, userId);
  // The user was created and deleted since. The key of an erased user cannot encrypt anything any more.
  return user.status === 'deleted' || exists(user) ? alreadyCreated(userId) : undefined;
}
