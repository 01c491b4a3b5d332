/** Identity: who a caller is. Accounts, sessions, tenants, and the keys that tokens are signed with. */
import { domainToASCII } from 'node:url';
import { metrics } from '@cardea/runtime';
import type { ServiceDefinition, ServiceNeeds } from '@cardea/service';
import { settleAdministrators } from './accounts/administrators/settle-administrators.policy.ts';
import { bootstrapAdmin } from './accounts/bootstrap.ts';
import { callersByStream } from './accounts/callers.ts';
import { deleteUserRoute, updateUserRoute } from './accounts/users/administer/administer.route.ts';
import { createUserRoute } from './accounts/users/administer/create-user.route.ts';
import { getUserRoute, listUsersRoute } from './accounts/users/administer/list-users.route.ts';
import { announceVouched } from './accounts/users/announce-vouched.policy.ts';
import { currentUserRoute } from './accounts/users/current-user/current-user.route.ts';
import { forgetDeletedUsers } from './accounts/users/forget-deleted-users.policy.ts';
import { getProfileRoute, updateProfileRoute } from './accounts/users/profile/profile.route.ts';
import { resendVerificationRoute } from './accounts/users/resend-verification/resend-verification.route.ts';
import { usersProjection } from './accounts/users/users.projection.ts';
import {
  verifyEmailByLinkRoute,
  verifyEmailRoute,
} from './accounts/users/verify-email/verify-email.route.ts';
import { argon2 } from './adapters/argon2.ts';
import { mailFolder, smtpTransport } from './adapters/mail-transport.ts';
import { machineParts } from './agents/machines.ts';
import { machineMappers } from './agents/machines-relay.ts';
import { changePasswordRoute } from './authentication/passwords/change-password/change-password.route.ts';
import { forgotPasswordRoute } from './authentication/passwords/forgot-password/forgot-password.route.ts';
import { logInRoute } from './authentication/passwords/log-in/log-in.route.ts';
import {
  resetPasswordPageRoute,
  resetPasswordRoute,
} from './authentication/passwords/reset-password/reset-password.route.ts';
import { registerRoute } from './authentication/registrations/register/register.route.ts';
import { signUpRoute } from './authentication/registrations/sign-up/sign-up.route.ts';
import { type Identity, type IdentityParts, identityOf } from './identity.ts';
import { bell } from './mail/bell.ts';
import { mailSender } from './mail/mail-sender.ts';
import { devMailboxRoutes } from './mail/mailboxes/dev-mailbox/dev-mailbox.route.ts';
import { mailQueueProjection } from './mail/mailboxes/mail-queue.projection.ts';
import { type IdentityOperations, operationsOf } from './operations.ts';
import { relayOf } from './relay.ts';
import { listSessionsRoute } from './sessions/list-sessions/list-sessions.route.ts';
import { standingMarks } from './sessions/marks.ts';
import { refreshRoute } from './sessions/refresh/refresh.route.ts';
import { revocationsProjection } from './sessions/revocations.projection.ts';
import {
  revokeSessionRoute,
  revokeSessionsRoute,
} from './sessions/revoke-session/revoke-session.route.ts';
import { sessionsProjection } from './sessions/sessions.projection.ts';
import { listKeysRoute, rotateKeysRoute } from './signing-keys/administer/administer.route.ts';
import { jwksRoute } from './signing-keys/jwks.route.ts';
import { tellChangedKeys } from './signing-keys/tell-changed-keys.policy.ts';
import { identifyRoute } from './workspaces/applications/identify/identify.route.ts';
import { listApplicationsRoute } from './workspaces/applications/list-applications/list-applications.route.ts';
import {
  getOrganizationRoute,
  updateOrganizationRoute,
} from './workspaces/organizations/administer/organization.route.ts';
import {
  getTenantRoute,
  updateTenantRoute,
} from './workspaces/tenants/administer/administer.route.ts';
import { workspacesProjection } from './workspaces/tenants/workspaces.projection.ts';

/** The mailbox page shows the mail of all services, also where it is a process of its own. */
export { devMailboxRoutes, mailFolder };

const RING_READ_MS = 30_000;
const TICK_MS = 4_000;

/** `parts` replaces drivers, for tests that count or stop them. */
export const identityWith = (parts: Partial<IdentityParts> = {}): ServiceDefinition => ({
  name: 'identity',
  migrations: new URL('../migrations/', import.meta.url),
  build: (needs) => {
    const { settings } = needs;
    const identity = identityOf(needs, { ...driversOf(settings), ...parts });
    const mail = mailTransports(needs);
    const newMail = bell(needs.clock);
    const machines = machineParts(identity);
    return {
      endpoints: [
        ...accountRoutes(identity),
        ...machines.endpoints,
        ...(mail.folder === undefined ? [] : devMailboxRoutes(mail.folder)),
      ],
      projections: [
        workspacesProjection,
        usersProjection,
        sessionsProjection,
        revocationsProjection,
        mailQueueProjection(newMail.ring),
        ...machines.projections,
      ],
      authenticator: callersByStream(needs.authenticator, identity.people),
      relay: relayOf(machineMappers),
      consumers: [],
      policies: [
        tellChangedKeys(needs),
        forgetDeletedUsers({ ...needs, releaseAddress: identity.accounts.releaseAddress }),
        settleAdministrators(identity),
        announceVouched(needs),
        ...machines.policies,
      ],
      loops: [
        mailSender({ ...identity, transport: mail.transport }, newMail.awake),
        keyringReader(identity),
        ...machines.loops,
      ],
      start: async () => {
        await Promise.all([identity.signingKeys.start(), identity.passwords.warmUp()]);
        await bootstrapAdmin(identity);
        await needs.revocations.keepFilled(() => standingMarks(needs));
      },
      stop: async () => {
        await identity.signingKeys.stop();
        mail.transport?.close();
      },
      degraded: () =>
        mail.transport === undefined
          ? { 'identity.smtp': 'SMTP_URL is not set: mail waits until it is' }
          : {},
      measure: async () => metrics.hashQueueDepth.set(identity.gate.waiting()),
      offers: {
        jwks: identity.signingKeys.latestJwks,
        introspect: machines.introspect,
        ended: machines.ended,
        facts: machines.facts,
      },
    };
  },
});

export const identityService: ServiceDefinition = identityWith();

/** For the command line; nothing turns there, so what it does is seen when the service reads it. */
export const identityOperations = (needs: ServiceNeeds): IdentityOperations =>
  operationsOf(identityOf(needs, driversOf(needs.settings)));

const driversOf = (settings: ServiceNeeds['settings']): IdentityParts => ({
  passwordFunction: argon2({ memoryKib: settings.ARGON2_MEMORY, time: settings.ARGON2_TIME }),
  toAscii: domainToASCII,
});

const accountRoutes = (identity: Identity) => [
  signUpRoute(identity),
  registerRoute(identity),
  logInRoute(identity),
  refreshRoute(identity),
  identifyRoute(identity),
  forgotPasswordRoute(identity),
  resetPasswordRoute(identity),
  resetPasswordPageRoute(),
  verifyEmailRoute(identity),
  verifyEmailByLinkRoute(identity),
  resendVerificationRoute(identity),
  currentUserRoute(identity),
  getProfileRoute(identity),
  updateProfileRoute(identity),
  changePasswordRoute(identity),
  listSessionsRoute(identity),
  revokeSessionRoute(identity),
  revokeSessionsRoute(identity),
  listApplicationsRoute(identity),
  getOrganizationRoute(identity),
  updateOrganizationRoute(identity),
  getTenantRoute(identity),
  updateTenantRoute(identity),
  createUserRoute(identity),
  listUsersRoute(identity),
  getUserRoute(identity),
  updateUserRoute(identity),
  deleteUserRoute(identity),
  jwksRoute(identity),
  listKeysRoute(identity),
  rotateKeysRoute(identity),
];

function mailTransports({ settings, clock }: ServiceNeeds) {
  const { SMTP_URL, MAIL_FROM, ENV, CARDEA_DATA } = settings;
  if (SMTP_URL !== undefined) {
    return { transport: smtpTransport(SMTP_URL.reveal(), MAIL_FROM), folder: undefined };
  }
  // Production never shows mail to anybody but its receiver.
  if (ENV === 'production') return { transport: undefined, folder: undefined };
  const folder = mailFolder(`${CARDEA_DATA ?? '.cardea'}/mail`, MAIL_FROM, () => clock.now());
  return { transport: folder, folder };
}

/** Another replica may have changed the ring; each keeps its schedule, whichever is alive. */
const keyringReader = ({ signingKeys, clock }: Identity) => ({
  name: 'identity.keyring',
  run: async (signal: AbortSignal, tick: () => void) => {
    let readMs = Number.NEGATIVE_INFINITY;
    while (!signal.aborted) {
      tick();
      if (signingKeys.isOld() || clock.monotonicMs() - readMs >= RING_READ_MS) {
        await signingKeys.keepSchedule();
        await signingKeys.refresh();
        readMs = clock.monotonicMs();
      }
      await clock.sleep(TICK_MS, signal);
    }
  },
});
