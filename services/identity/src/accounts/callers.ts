/**
 * Callers with the roles of their own stream, because a token's roles may have changed since it was issued, and
 * with their sign-in only as long as it is of the account's epoch.
 */
import type { Authenticator, Principal, UserPrincipal } from '@cardea/auth';
import type { UserDirectory } from './user-directory.ts';
import { type ExistingUser, signInsBefore } from './users/user.ts';

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
  return {
    ...principal,
    roles: principal.roles.filter((role) => user.roles.includes(role)),
    authTime: isOfEarlierEpoch(principal, user) ? null : principal.authTime,
  };
}

/** The revocation list names the sessions that ended with an epoch as far as their table had come. */
const isOfEarlierEpoch = (
  { issuedAt, sessionId }: UserPrincipal,
  { epoch, epochSince, keepSid }: ExistingUser,
): boolean =>
  epoch > 0 &&
  sessionId !== keepSid &&
  issuedAt < signInsBefore(epochSince) - (sessionId === null ? 0 : 1);
