/** Creates an administrator from the command line, for deployments in which nobody can sign in yet. */
import type { Command } from '@cardea/event-store';
import { uuidFrom } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import type { TenantFacts, Workspaces } from '../workspaces/workspaces.module.ts';
import type { Accounts } from './accounts.ts';
import { BOOTSTRAP_IDS } from './bootstrap.ts';
import { emailAddress, type ToAscii } from './email-address.ts';
import { type Passwords, passwordFault } from './passwords/passwords.ts';
import type { UserDirectory } from './user-directory.ts';

type Dependencies = Pick<ServiceDependencies, 'ids' | 'settings' | 'systemCommand'> & {
  readonly userDirectory: Pick<UserDirectory, 'hashOf'>;
  readonly accounts: Pick<Accounts, 'create'>;
  readonly workspaces: Pick<Workspaces, 'createApplication' | 'createWorkspace' | 'tenant'>;
  readonly passwords: Pick<Passwords, 'hash' | 'objectionTo'>;
  readonly toAscii: ToAscii;
};

export type NewAdmin = {
  readonly email: string;
  readonly password: string;
  /** Undefined means the deployment's own tenant. */
  readonly tenantId: string | undefined;
};

export type AdminMade =
  | { readonly userId: string; readonly tenantId: string }
  | {
      readonly refused:
        | 'invalid_email'
        | 'tenant_not_found'
        | 'email_already_exists'
        | 'password_too_short'
        | 'password_too_long'
        | 'password_too_weak'
        | 'password_breached';
    };

/** Audited as an action of the service, because nobody has signed in. */
export async function createAdmin(needs: Dependencies, asked: NewAdmin): Promise<AdminMade> {
  const { userDirectory, passwords, accounts, ids } = needs;
  const email = emailAddress(asked.email, needs.toAscii);
  if (email === undefined) return { refused: 'invalid_email' };
  const tenantId = asked.tenantId ?? BOOTSTRAP_IDS.tenantId;
  const userId = ids.next();
  const command = needs.systemCommand(tenantId, 'create admin', userId);
  const tenant = await tenantFor(needs, asked, command);
  if (tenant === undefined) return { refused: 'tenant_not_found' };
  const { password_policy: policy } = tenant.settings;
  const fault = passwordFault(asked.password, policy);
  if (fault !== undefined) return { refused: fault };
  const weakness = await passwords.objectionTo(asked.password, policy, tenantId);
  if (weakness !== undefined) return { refused: weakness };
  const own = tenantId === BOOTSTRAP_IDS.tenantId ? ['system_admin'] : [];
  const created = await accounts.create(
    {
      id: userId,
      email,
      emailHash: await userDirectory.hashOf(tenantId, email),
      emailVerified: true,
      displayName: null,
      avatarUrl: null,
      roles: [...own, 'owner', 'admin'],
      passwordHash: await passwords.hash(asked.password, tenantId),
      via: 'admin',
      vouched: true,
      requestHash: null,
    },
    command,
  );
  return created.outcome === 'created' ? { userId, tenantId } : { refused: 'email_already_exists' };
}

/** In a deployment without an administrator, creates the deployment's own tenant with the first one. */
async function tenantFor(
  { workspaces, settings }: Pick<Dependencies, 'settings' | 'workspaces'>,
  { tenantId }: NewAdmin,
  command: Command,
): Promise<TenantFacts | undefined> {
  const found = await workspaces.tenant(tenantId ?? BOOTSTRAP_IDS.tenantId);
  if (found !== undefined || tenantId !== undefined) return found;
  const workspace = {
    ...BOOTSTRAP_IDS,
    organizationName: 'system',
    tenantName: 'default',
    environment: settings.ENV,
  };
  const making = { ...command, id: uuidFrom(command.id, 'workspace') };
  const made = await workspaces.createWorkspace(workspace, making);
  await workspaces.createApplication(workspace, making);
  return made;
}
