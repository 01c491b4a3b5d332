/** Users: their accounts, passwords and roles, managed by themselves and by administrators. */

import type { Authenticator, SignToken } from '@cardea/auth';
import { metrics } from '@cardea/runtime';
import type { Module, ServiceDependencies } from '@cardea/service';
import type { PasswordFunction } from '../adapters/argon2.ts';
import type { BreachedPasswords } from '../adapters/breached-passwords.ts';
import { strengthOf } from '../adapters/password-strength.ts';
import type { MailOutbox } from '../mail/mail.module.ts';
import type { SnapshotCache } from '../streams/snapshot-cache.ts';
import { createTenantRoute, type Workspaces } from '../workspaces/workspaces.module.ts';
import { type Accounts, accounts } from './accounts.ts';
import { accountsRelay } from './accounts-relay.ts';
import { administratorLists } from './administrators/administrator-list.ts';
import { type Administrators, administrators } from './administrators/administrators.ts';
import { settleAdministrators } from './administrators/settle-administrators.policy.ts';
import { bootstrapAdmin } from './bootstrap.ts';
import { callersByStream } from './callers.ts';
import { type AdminMade, createAdmin, type NewAdmin } from './create-admin.ts';
import { deadlinesProjection } from './deadlines/deadlines.projection.ts';
import { meetDeadlines } from './deadlines/meet-deadlines.ts';
import type { ToAscii } from './email-address.ts';
import { type EmailChanges, emailChanges } from './email-changes.ts';
import { exportUsersRoute } from './exports/export-users.route.ts';
import { userExports } from './exports/user-export.ts';
import { userExportsRelay } from './exports/user-exports-relay.ts';
import { impersonateRoute } from './impersonations/impersonate/impersonate.route.ts';
import { impersonations } from './impersonations/impersonation.ts';
import { impersonationsRelay } from './impersonations/impersonations-relay.ts';
import { forgetRevokedInvitations } from './invitations/forget-revoked-invitations.policy.ts';
import { invitations } from './invitations/invitation.ts';
import { invitationsProjection } from './invitations/invitations.projection.ts';
import { invitationsRelay } from './invitations/invitations-relay.ts';
import { inviteRoute } from './invitations/invite/invite.route.ts';
import { inviting } from './invitations/inviting.ts';
import { invitingAdministrators } from './invitations/inviting-administrators.ts';
import { type Join, joining } from './invitations/joining.ts';
import { listInvitationsRoute } from './invitations/list/list.route.ts';
import { revokeInvitationRoute } from './invitations/revoke/revoke.route.ts';
import { dearestHashes } from './passwords/dearest-hash.ts';
import { hashPermits } from './passwords/hash-permits.ts';
import { type Passwords, passwords } from './passwords/passwords.ts';
import { signInFloor } from './passwords/sign-in-floor.ts';
import { type UserDirectory, userDirectory } from './user-directory.ts';
import { deleteUserRoute, updateUserRoute } from './users/administer/administer.route.ts';
import { createUserRoute } from './users/administer/create-user.route.ts';
import { getUserRoute, listUsersRoute } from './users/administer/list-users.route.ts';
import { resetMfaRoute } from './users/administer/reset-mfa.route.ts';
import { announceVouched } from './users/announce-vouched.policy.ts';
import { currentUserRoute } from './users/current-user/current-user.route.ts';
import { followEmailChanges } from './users/follow-email-changes.policy.ts';
import { forgetDeletedUsers } from './users/forget-deleted-users.policy.ts';
import { mailResetRoute } from './users/mail-reset/mail-reset.route.ts';
import { getProfileRoute, updateProfileRoute } from './users/profile/profile.route.ts';
import { releaseUnlinkedIdentities } from './users/release-unlinked-identities.policy.ts';
import { resendVerificationRoute } from './users/resend-verification/resend-verification.route.ts';
import {
  listIdentitiesRoute,
  unlinkIdentityRoute,
} from './users/unlink-identity/unlink-identity.route.ts';
import { users } from './users/user.ts';
import { usersProjection } from './users/users.projection.ts';

export { avatarUrl, displayName } from '../http/profile-fields.ts';
export { ACCOUNT_APPENDS, type Accounts } from './accounts.ts';
export { isVerifiedTenant } from './administrators/verified-tenant.ts';
export type { AdminMade, NewAdmin } from './create-admin.ts';
export { emailAddress, type ToAscii } from './email-address.ts';
export { type EmailChanges, isTakenFor } from './email-changes.ts';
export { userExports } from './exports/user-export.ts';
export type { ExternalAccount } from './external-identities.ts';
export type { ImpersonationEvent } from './impersonations/impersonation.ts';
export type { Invitation } from './invitations/invitation.ts';
export type { Join, Joined } from './invitations/joining.ts';
export { type Passwords, passwordFault, readHashWith } from './passwords/passwords.ts';
export { isReusedPassword } from './passwords/reused-password.ts';
export { type Opened, readSnapshot, type UserDirectory } from './user-directory.ts';
export {
  type DecideDependencies,
  decideOnUser,
  endTokens,
} from './users/administer/decide-on-user.ts';
export { outranks } from './users/administrator.ts';
export {
  pendingEmailChange,
  proveEmailChange,
  requestEmailChange,
} from './users/change-email/change-email.ts';
export { cancelDeletion, scheduleDeletion } from './users/delete-account/delete-account.ts';
export { PREVIOUS_EMAIL_MS } from './users/emails-of-user.ts';
export { endSessions } from './users/end-sessions/end-sessions.ts';
export { type CheckImport, checkImportWith } from './users/import-users/check-import.ts';
export { importUsersRoute } from './users/import-users/import-users.route.ts';
export type { ImportedUser } from './users/import-users/import-users.ts';
export { endMadeBeforeReclaim } from './users/made-before-reclaim.ts';
export { proveAddress } from './users/prove-address.ts';
export { type AccountReclaimed, isBeforeReclaim } from './users/reclaim.ts';
export { repeatedCreation } from './users/repeated-creation.ts';
export {
  factorRemoved,
  hasSecondFactor,
  NO_SECOND_FACTORS,
  type UserFactor,
} from './users/second-factors.ts';
export { setPassword } from './users/set-password.ts';
export {
  type ExistingUser,
  exists,
  type KeptSession,
  signInsBefore,
  standsFor,
  type User,
  type UserEvent,
  userNow,
  users,
} from './users/user.ts';

type Dependencies = Pick<
  ServiceDependencies,
  | 'authenticator'
  | 'cache'
  | 'clock'
  | 'command'
  | 'database'
  | 'ids'
  | 'limits'
  | 'log'
  | 'positions'
  | 'sealer'
  | 'settings'
  | 'store'
  | 'streams'
  | 'systemCommand'
> & {
  readonly snapshots: SnapshotCache;
  readonly workspaces: Workspaces;
  readonly mailOutbox: MailOutbox;
  readonly passwordFunction: PasswordFunction;
  readonly breachedPasswords: BreachedPasswords;
  readonly toAscii: ToAscii;
  readonly sign: SignToken;
};

export type AccountsModule = {
  readonly module: Module;
  readonly userDirectory: UserDirectory;
  readonly emailChanges: EmailChanges;
  readonly accounts: Accounts;
  readonly administrators: Administrators;
  readonly passwords: Passwords;
  readonly invitations: Join;
  /** Authenticates callers with the roles that their own streams give them now. */
  readonly authenticator: Authenticator;
  /** Creates an administrator for the command line. */
  readonly createAdmin: (admin: NewAdmin) => Promise<AdminMade>;
  /** Operations on a person's own account, for its pages. */
  readonly selfService: ReturnType<typeof selfService>;
};

export function accountsModule(given: Dependencies): AccountsModule {
  const directory = userDirectory(given);
  const hashing = passwordHashing(given);
  const withUsers = { ...given, userDirectory: directory };
  const needs = {
    ...withUsers,
    accounts: accounts(withUsers),
    administrators: administrators(withUsers),
    passwords: hashing.passwords,
    invitePerson: inviting(withUsers),
  };
  const own = selfService(needs);
  const changes = emailChanges({ ...needs, emails: needs.accounts.emails });
  const module: Module = {
    endpoints: [
      ...Object.values(own),
      createUserRoute(needs),
      listUsersRoute(needs),
      exportUsersRoute(needs),
      getUserRoute(needs),
      updateUserRoute(needs),
      deleteUserRoute(needs),
      resetMfaRoute(needs),
      mailResetRoute(needs),
      impersonateRoute(needs),
      createTenantRoute({ ...needs, inviteAdministrator: invitingAdministrators(needs) }),
      inviteRoute(needs),
      listInvitationsRoute(needs),
      revokeInvitationRoute(needs),
    ],
    projections: [usersProjection, invitationsProjection, deadlinesProjection],
    policies: [
      forgetDeletedUsers({ ...needs, releaseAddress: needs.accounts.releaseAddress }),
      settleAdministrators(needs),
      announceVouched(needs),
      forgetRevokedInvitations(needs),
      followEmailChanges({ ...needs, emails: needs.accounts.emails, emailChanges: changes }),
      releaseUnlinkedIdentities({ ...needs, identities: needs.accounts.identities }),
    ],
    loops: [meetDeadlines({ ...needs, emailChanges: changes })],
    relay: { ...accountsRelay, ...invitationsRelay, ...impersonationsRelay, ...userExportsRelay },
    start: async () => {
      await needs.passwords.warmUp();
      await bootstrapAdmin(needs);
    },
    measure: async () => metrics.hashQueueDepth.set(hashing.permits.waiting()),
  };
  return {
    module,
    userDirectory: directory,
    emailChanges: changes,
    accounts: needs.accounts,
    administrators: needs.administrators,
    passwords: needs.passwords,
    invitations: joining(needs),
    authenticator: callersByStream(given.authenticator, directory),
    createAdmin: (admin) => createAdmin(needs, admin),
    selfService: own,
  };
}

const selfService = (
  needs: Parameters<typeof currentUserRoute>[0] &
    Parameters<typeof updateProfileRoute>[0] &
    Parameters<typeof resendVerificationRoute>[0] &
    Parameters<typeof unlinkIdentityRoute>[0],
) => ({
  currentUser: currentUserRoute(needs),
  getProfile: getProfileRoute(needs),
  updateProfile: updateProfileRoute(needs),
  listIdentities: listIdentitiesRoute(needs),
  unlinkIdentity: unlinkIdentityRoute(needs),
  resendVerification: resendVerificationRoute(needs),
});

/** A sample is verified like an account's own hash: with the tenant's permit, and timed. */
function passwordHashing(given: Dependencies) {
  const { settings, clock, passwordFunction: own, breachedPasswords: breached } = given;
  const permits = hashPermits(settings.HASH_CONCURRENCY, clock);
  const floor = signInFloor({
    ...given,
    verify: (tenantId, sample) => made.matches(sample, 'no password', tenantId),
  });
  const made = passwords({ own, permits, floor, breached, strengthOf });
  return { permits, passwords: made };
}

export const accountsStreams = [
  dearestHashes,
  users,
  administratorLists,
  invitations,
  impersonations,
  userExports,
];
