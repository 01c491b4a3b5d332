/**
 * Callers with the roles of their own stream, because a token's roles may have changed since it was issued.
 */
import type { Authenticator, Principal, UserPrincipal } from '@cardea/auth';
import type { UserDirectory } from './user-directory.ts';

export const callersByStream = (
  authenticator: Authenticator,
  { byId }: Pick<UserDirectory, 'byId'>,
): Authenticator => ({
  ...authenticator,
  confirm: async (principal) => {
    const live = await authenticator.confirm(principal);
    return live?.kind === 'user' ? await asTheyAre(byId, live) : live;
  },
});

async function asTheyAre(
  byId: UserDirectory['byId'],
  principal: UserPrincipal,
): Promise<Principal | undefined> {
  const { tenantId, id, issuedAt, impersonatedBy } = principal;
  const reading = byId(tenantId, id);
  const [user, behind] = await Promise.all([
    reading,
    impersonatedBy === null ? reading : byId(tenantId, impersonatedBy),
  ]);
  if (user.status !== 'active' || behind.status !== 'active') return undefined;
  if (issuedAt < Math.max(user.tokensBefore, behind.tokensBefore)) return undefined;
  return { ...principal, roles: principal.roles.filter((role) => user.roles.includes(role)) };
}
