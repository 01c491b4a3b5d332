/**
 * Who may export the password hashes of a tenant: a person of the highest rank in the tenant with a recent sign-in. API
 * keys, machines and administrators who impersonate somebody may not.
 */
import type { Authenticator, Principal } from '@cardea/auth';
import { stepUpHeaders } from '@cardea/http';
import { administratorOf, isHighestIn } from '../../ranks/ranks.ts';
import type { UserDirectory } from '../user-directory.ts';
import type { AdminUser } from '../users/administer/admin-users.ts';
import { exists } from '../users/user.ts';

const AUTH_AGE_SECONDS_MAX = 600;
const MS = 1_000;
/** The number of streams that are read concurrently. */
const READ_AT_ONCE_MAX = 20;
/** A scope that only the tenant's own applications can have. */
const ACCOUNT = 'account';

type Caller = { readonly principal: Principal; readonly tenantId: string; readonly now: Date };

export async function objectionToHashes(
  { confirm }: Pick<Authenticator, 'confirm'>,
  { principal, tenantId, now }: Caller,
) {
  if (principal.kind !== 'user' || principal.impersonatedBy !== null) return IN_PERSON;
  if (principal.clientId !== null && principal.scopes?.includes(ACCOUNT) !== true) return SCOPE;
  // The role or the session may have ended since the token was issued.
  const live = await confirm(principal);
  if (live?.kind !== 'user') return STEP_UP;
  if (!isHighestIn(tenantId, administratorOf(live))) return IN_PERSON;
  const { authTime } = live;
  const isRecent = authTime !== null && now.getTime() / MS - authTime < AUTH_AGE_SECONDS_MAX;
  return isRecent ? undefined : STEP_UP;
}

const IN_PERSON = {
  refused: 'forbidden',
  message: 'Password hashes are for the highest role of the tenant, in person.',
} as const;
const SCOPE = { refused: 'insufficient_scope', details: { scope: ACCOUNT } } as const;
const STEP_UP = {
  refused: 'step_up_required',
  headers: stepUpHeaders(AUTH_AGE_SECONDS_MAX),
} as const;

export type WithHash = AdminUser & { readonly password_hash: string | null };

/** Hashes are read from the stream of each user, because no table contains them. */
export async function withHashes(
  { byId, passwordHashOf }: Pick<UserDirectory, 'byId' | 'passwordHashOf'>,
  { tenantId, page }: { readonly tenantId: string; readonly page: readonly AdminUser[] },
): Promise<readonly WithHash[]> {
  const result: WithHash[] = [];
  for (let at = 0; at < page.length; at += READ_AT_ONCE_MAX) {
    const some = page.slice(at, at + READ_AT_ONCE_MAX).map(async (row) => {
      const user = await byId(tenantId, row.id);
      return { ...row, password_hash: exists(user) ? await passwordHashOf(user) : null };
    });
    result.push(...(await Promise.all(some)));
  }
  return result;
}
