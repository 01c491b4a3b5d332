/**
 * Authenticates callers with the roles of their own streams, because a token's roles may be outdated. A session is
 * accepted only while it belongs to the account's current epoch.
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

/** The revocation list names sessions of an ended epoch only if the table of sessions had them at that time. */
const isOfEarlierEpoch = (
  { issuedAt, sessionId }: UserPrincipal,
  { epoch, epochSince, keepSid }: ExistingUser,
): boolean =>
  epoch > 0 &&
  sessionId !== keepSid &&
  issuedAt < signInsBefore(epochSince) - (sessionId === null ? 0 : 1);
