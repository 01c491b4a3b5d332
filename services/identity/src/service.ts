/** Identity authenticates callers. It owns accounts, sessions, tenants, and the keys that sign tokens. */

import { domainToASCII } from 'node:url';
import type { OutboundDependencies } from '@cardea/http';
import { languageOfLocale } from '@cardea/pages';
import { geoIp } from '@cardea/runtime';
import { type ServiceDefinition, type ServiceDependencies, serviceOf } from '@cardea/service';
import { accountPagesModule } from './account-pages/account-pages.module.ts';
import {
  type AccountsModule,
  type AdminMade,
  accountsModule,
  accountsStreams,
  type CheckImport,
  checkImportWith,
  exists,
  type ImportedUser,
  isTakenFor,
  isVerifiedTenant,
  type NewAdmin,
  pendingEmailChange,
  readHashWith,
  type ToAscii,
} from './accounts/accounts.module.ts';
import { argon2, type PasswordFunction } from './adapters/argon2.ts';
import { type BreachedPasswords, breachedPasswords } from './adapters/breached-passwords.ts';
import { withImportedHashes } from './adapters/imported-hashes.ts';
import { readTotpSecret } from './adapters/totp.ts';
import {
  agentOfKey,
  agentsModule,
  agentsStreams,
  startsAgentSessions,
} from './agents/agents.module.ts';
import {
  authenticationModule,
  authenticationStreams,
} from './authentication/authentication.module.ts';
import { consentEpochs, consentsModule, consentsStreams } from './consents/consents.module.ts';
import {
  credentialsModule,
  credentialsStreams,
  findLiveKey,
  type OpaqueKey,
} from './credentials/credentials.module.ts';
import { factorsModule, factorsStreams } from './factors/factors.module.ts';
import {
  codeRedemption,
  devMailboxRoutes,
  mailModule,
  mailOutbox,
  mailStreams,
} from './mail/mail.module.ts';
import { noticesModule } from './notices/notices.module.ts';
import {
  accessOfApplications,
  knownClients,
  oauthModule,
  oauthStreams,
} from './oauth/oauth.module.ts';
import { ownAccountModule } from './own-account/own-account.module.ts';
import { findOnward } from './pages/onward.ts';
import {
  revocationsModule,
  revokedByStream,
  streamsWithRevocations,
} from './revocations/revocations.module.ts';
import { sessionsModule, sessionsStreams } from './sessions/sessions.module.ts';
import {
  type KeyOperations,
  keyOperations,
  signingKeysModule,
  signingKeysStreams,
} from './signing-keys/signing-keys.module.ts';
import { reservationStreams } from './streams/reservation.ts';
import { snapshotCache } from './streams/snapshot-cache.ts';
import {
  applicationHomes,
  machineCallersByStream,
  type Workspaces,
  workspacesModule,
  workspacesStreams,
} from './workspaces/workspaces.module.ts';

/** The mailbox page shows the mail of all services, even if identity runs as a separate process. */
export type { CheckImport, ImportedUser };
export { devMailboxRoutes };

/** The cost of an imported hash does not depend on our own parameters. */
const OWN = withImportedHashes(argon2({ memoryKib: 8, time: 1 }));
/** Checks files of users before they are sent. */
export const checkImport: CheckImport = checkImportWith({
  readHash: readHashWith(OWN),
  readTotpSecret,
  toAscii: domainToASCII,
});

export type IdentityDrivers = {
  readonly passwordFunction: PasswordFunction;
  readonly toAscii: ToAscii;
  readonly breachedPasswords: BreachedPasswords;
  /** Replaces the network when client documents are fetched. */
  readonly documentNetwork?: Pick<OutboundDependencies, 'dialer' | 'resolver'>;
  /** Replaces the network when logout notices are sent. */
  readonly noticeNetwork?: Pick<OutboundDependencies, 'dialer' | 'resolver'>;
};

/** `drivers` replaces some of the drivers, for tests that count or stop them. */
export const identityWith = (drivers: Partial<IdentityDrivers> = {}): ServiceDefinition => ({
  name: 'identity',
  streams: [
    ...accountsStreams,
    ...agentsStreams,
    ...authenticationStreams,
    ...consentsStreams,
    ...credentialsStreams,
    ...factorsStreams,
    ...mailStreams,
    ...oauthStreams,
    ...sessionsStreams,
    ...signingKeysStreams,
    ...workspacesStreams,
    ...reservationStreams,
  ],
  migrations: new URL('../migrations/', import.meta.url),
  build: (needs) => {
    const parts = identityModules(needs, { ...driversOf(needs.settings), ...drivers });
    const authenticator = machineCallersByStream(parts.accounts.authenticator, parts);
    return serviceOf(parts.modules, { authenticator });
  },
});

export const identityService: ServiceDefinition = identityWith();

/** Operations of the command line that are no endpoints: keys, administrators, the checks of `doctor`. */
export type IdentityOperations = KeyOperations & {
  readonly createAdmin: (admin: NewAdmin) => Promise<AdminMade>;
  /** Returns false if the tenant does not exist. */
  readonly isRegistrationOpen: (tenantId: string) => Promise<boolean>;
  /** The names of a tenant's valid API keys and machines that have the scope, at most 100. */
  readonly namesWithScope: (tenantId: string, scope: string) => Promise<readonly string[]>;
};

/** No loop runs here, so effects follow when the service next reads its log. */
export function identityOperations(needs: ServiceDependencies): IdentityOperations {
  const { signingKeys, accounts, workspaces } = identityModules(needs, driversOf(needs.settings));
  return {
    ...keyOperations(signingKeys.signingKeys),
    createAdmin: accounts.createAdmin,
    isRegistrationOpen: async (tenantId) =>
      (await workspaces.workspaces.tenant(tenantId))?.settings.registration.mode === 'open',
    namesWithScope: async (tenantId, scope) => {
      const { rows } = await needs.database.system.query<{ name: string }>(
        `SELECT name, created_at FROM identity.api_keys
         WHERE tenant_id = $1 AND $2 = ANY(scopes) AND revoked_at IS NULL
           AND (expires_at IS NULL OR expires_at > $3)
         UNION ALL
         SELECT name, created_at FROM identity.applications
         WHERE tenant_id = $1 AND $2 = ANY(machine_scopes) AND deleted_at IS NULL
         ORDER BY created_at DESC LIMIT 100`,
        [tenantId, scope, needs.clock.now()],
      );
      return rows.map(({ name }) => name);
    },
  };
}

const driversOf = (settings: ServiceDependencies['settings']): IdentityDrivers => ({
  passwordFunction: argon2({ memoryKib: settings.ARGON2_MEMORY, time: settings.ARGON2_TIME }),
  toAscii: domainToASCII,
  breachedPasswords: breachedPasswords(),
});

/** Passes each module what it requires of the service's dependencies and of earlier modules. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: it lists what each part gets, a line each.
export function identityModules(given: ServiceDependencies, drivers: IdentityDrivers) {
  // Every decision revokes the credentials that it ends before the request is answered.
  const needs = { ...given, streams: streamsWithRevocations(given) };
  const snapshots = snapshotCache(needs.streams);
  const outbox = mailOutbox({ ...needs, snapshots });
  const codeKeys = needs.derive('JWT_SECRET', 'otp/v1');

  const signingKeys = signingKeysModule(needs);
  const { sign, signForClient, jwks, keys, latestJwks } = signingKeys.signingKeys;
  const workspaces = workspacesModule({ ...needs, snapshots });
  const shared = {
    ...needs,
    ...drivers,
    geoIp: geoIp({ ...needs, path: needs.settings.GEOIP_DB_PATH }),
    passwordFunction: withImportedHashes(drivers.passwordFunction),
    sign,
    signForClient,
    snapshots,
    workspaces: workspaces.workspaces,
    onward: findOnward(needs.settings, (tenantId) => applicationHomes(needs, tenantId)),
    mailOutbox: outbox,
    codeKeys,
    codes: codeRedemption({ ...needs, snapshots, codeKeys }),
  };
  const accounts = accountsModule(shared);
  const { userDirectory } = accounts;
  const isKnownClient = knownClients(shared);
  const consentEpoch = consentEpochs({ snapshots, isKnownClient });
  const sessions = sessionsModule({ ...shared, userDirectory, consentEpoch });
  const startAgentSession = startsAgentSessions({ ...shared, userDirectory });
  const keyHolders = {
    ...shared,
    agentOfKey: (key: OpaqueKey) => agentOfKey({ ...needs, snapshots }, key),
  };
  const credentials = credentialsModule(keyHolders);
  const factors = factorsModule({ ...shared, ...accounts });
  const { secondFactors, passkeys } = factors;
  const keySets = { jwks, latestJwks };
  const authentication = authenticationModule({
    ...shared,
    ...accounts,
    ...sessions,
    ...keySets,
    secondFactors,
    passkeys,
    applicationAccess: accessOfApplications({ ...shared, userDirectory }),
  });
  const { hostedSignIn, confirmSignIn } = authentication;
  const oauth = oauthModule({
    ...shared,
    ...keySets,
    ...sessions,
    keys,
    hostedSignIn,
    confirmSignIn,
    passkeys,
    userDirectory,
    consentEpoch,
    isKnownClient,
    startAgentSession,
    findLiveKey: findLiveKey(keyHolders),
    ended: revokedByStream({ ...shared, userDirectory }),
  });
  const mail = mailModule({
    ...needs,
    codeKeys,
    ...mailRecipients({ ...accounts, ...workspaces, clock: needs.clock }),
    isVerifiedTenant: (id) => isVerifiedTenant(needs.database, id),
  });
  const agents = agentsModule({ ...shared, userDirectory, startAgentSession });
  const consents = consentsModule(needs);
  const ownAccount = ownAccountModule({ ...shared, ...accounts });
  const accountPages = accountPagesModule({
    ...shared,
    endpoints: {
      ...ownAccount.selfService,
      ...accounts.selfService,
      ...agents.selfService,
      ...authentication.selfService,
      ...consents.selfService,
      ...factors.selfService,
      ...sessions.selfService,
    },
  });
  const modules = [
    signingKeys.module,
    workspaces.module,
    accounts.module,
    factors.module,
    authentication.module,
    sessions.module,
    credentials,
    agents.module,
    consents.module,
    accountPages,
    oauth,
    mail,
    ownAccount.module,
    noticesModule({ ...shared, userDirectory }),
    revocationsModule({ ...shared, userDirectory }),
  ];
  return { modules, signingKeys, snapshots, workspaces, accounts, sessions };
}

/** The recipients of mail: the owner of an address, and the person who was invited with it. */
const mailRecipients = ({
  clock,
  userDirectory,
  invitations,
  workspaces,
}: Pick<AccountsModule, 'invitations' | 'userDirectory'> & {
  readonly clock: ServiceDependencies['clock'];
  readonly workspaces: Pick<Workspaces, 'tenant' | 'organizationName'>;
}) => ({
  tenant: workspaces.tenant,
  organizationName: async (tenantId: string) => {
    const tenant = await workspaces.tenant(tenantId);
    return tenant === undefined ? '' : workspaces.organizationName(tenant);
  },
  nameOf: async (of: { readonly tenantId: string; readonly userId: string }) => {
    const user = await userDirectory.byId(of.tenantId, of.userId);
    if (!exists(user)) return '';
    const { displayName, email } = await userDirectory.open(user);
    return displayName ?? email ?? '';
  },
  recipient: async (tenantId: string, mailbox: string) => {
    const user = await userDirectory.byHash(tenantId, mailbox);
    if (user.status !== 'active') return undefined;
    const { id, emailVerified, epoch } = user;
    const language = languageOfLocale((await userDirectory.open(user)).locale);
    return { id, emailVerified, epoch, language };
  },
  changingEmail: async (
    tenantId: string,
    mailbox: string,
    change: { id: string; userId: string },
  ) => {
    const user = await userDirectory.byId(tenantId, change.userId);
    const pending = pendingEmailChange(user, clock.now());
    if (!exists(user) || pending?.id !== change.id) return undefined;
    const { id, emailVerified, epoch } = user;
    const language = languageOfLocale((await userDirectory.open(user)).locale);
    const of = { id, emailVerified, epoch, language };
    if (mailbox === user.emailHash) {
      return {
        ...of,
        text: pending.effectiveAt === null ? ('email_change_present' as const) : undefined,
      };
    }
    const isTaken = isTakenFor(await userDirectory.byHash(tenantId, mailbox));
    return { ...of, text: isTaken ? ('email_change_taken' as const) : undefined };
  },
  invited: async (tenantId: string, id: string) => {
    const invitation = await invitations.find({ tenantId, id });
    if (invitation.status !== 'pending') return undefined;
    const user = await userDirectory.byId(tenantId, invitation.userId);
    const epoch = user.status === 'invited' ? user.epoch : undefined;
    return { id: invitation.userId, emailVerified: false, epoch };
  },
});
