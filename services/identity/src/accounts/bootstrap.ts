/** Creates the first administrator once, from the settings. All replicas derive the same ids. */
import { BOOTSTRAP_TENANT_ID } from '@cardea/contracts';
import { uuidV5 } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import type { Workspaces } from '../workspaces/workspaces.module.ts';
import type { Accounts } from './accounts.ts';
import { emailAddress, type ToAscii } from './email-address.ts';
import type { Passwords } from './passwords/passwords.ts';
import type { UserDirectory } from './user-directory.ts';

type Dependencies = Pick<ServiceDependencies, 'log' | 'settings' | 'systemCommand'> & {
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'hashOf'>;
  readonly accounts: Pick<Accounts, 'create'>;
  readonly workspaces: Pick<Workspaces, 'createApplication' | 'createWorkspace'>;
  readonly passwords: Pick<Passwords, 'hash'>;
  readonly toAscii: ToAscii;
};

/** Namespace of the derived ids. Any fixed UUID would do. */
export const NAMESPACE = '6f1c0b52-8d0e-5c5e-9a38-1d3e0c7b7a11';
export const BOOTSTRAP_IDS = {
  organizationId: uuidV5(NAMESPACE, 'organization'),
  tenantId: BOOTSTRAP_TENANT_ID,
  userId: uuidV5(NAMESPACE, 'user'),
  applicationId: uuidV5(NAMESPACE, 'application'),
} as const;

export async function bootstrapAdmin(needs: Dependencies): Promise<void> {
  const { settings, userDirectory, passwords, accounts, workspaces } = needs;
  if (settings.ADMIN_EMAIL === undefined || settings.ADMIN_PASSWORD === undefined) return;
  const { tenantId, userId } = BOOTSTRAP_IDS;
  needs.log.info({ tenant_id: tenantId }, 'the first administrator signs in at this tenant');
  const existing = await userDirectory.byId(tenantId, userId);
  if (existing.status !== 'none' && existing.status !== 'abandoned') return;
  const email = emailAddress(settings.ADMIN_EMAIL, needs.toAscii);
  if (email === undefined) throw new Error('ADMIN_EMAIL is no e-mail address');

  const command = needs.systemCommand(tenantId, 'bootstrap');
  const workspace = {
    ...BOOTSTRAP_IDS,
    organizationName: 'system',
    tenantName: 'default',
    environment: settings.ENV,
  };
  await workspaces.createWorkspace(workspace, command);
  await workspaces.createApplication(workspace, command);
  const created = await accounts.create(
    {
      id: userId,
      email,
      emailHash: await userDirectory.hashOf(tenantId, email),
      emailVerified: true,
      displayName: null,
      avatarUrl: null,
      roles: ['system_admin', 'owner', 'admin'],
      passwordHash: await passwords.hash(settings.ADMIN_PASSWORD.reveal(), tenantId),
      via: 'bootstrap',
      vouched: true,
      requestHash: null,
    },
    command,
  );
  if (created.outcome === 'taken') needs.log.warn({}, 'ADMIN_EMAIL belongs to another user');
}
