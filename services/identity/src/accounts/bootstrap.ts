/** The first administrator, made once from the settings, under ids that every replica derives alike. */
import { BOOTSTRAP_TENANT_ID } from '@cardea/contracts';
import { uuidV5 } from '@cardea/runtime';
import type { Identity } from '../identity.ts';
import { emailAddress } from './email-address.ts';

/** Namespace of the ids below; any fixed UUID of our own. */
export const NAMESPACE = '6f1c0b52-8d0e-5c5e-9a38-1d3e0c7b7a11';
export const BOOTSTRAP_IDS = {
  organizationId: uuidV5(NAMESPACE, 'organization'),
  tenantId: BOOTSTRAP_TENANT_ID,
  userId: uuidV5(NAMESPACE, 'user'),
  applicationId: uuidV5(NAMESPACE, 'application'),
} as const;

export async function bootstrapAdmin(identity: Identity): Promise<void> {
  const { settings, people, passwords, accounts, workspaces } = identity;
  if (settings.ADMIN_EMAIL === undefined || settings.ADMIN_PASSWORD === undefined) return;
  const { tenantId, userId } = BOOTSTRAP_IDS;
  const existing = await people.byId(tenantId, userId);
  if (existing.status !== 'none' && existing.status !== 'abandoned') return;
  const email = emailAddress(settings.ADMIN_EMAIL, identity.toAscii);
  if (email === undefined) throw new Error('ADMIN_EMAIL is no e-mail address');

  const command = identity.systemCommand(tenantId, 'bootstrap');
  const workspace = {
    ...BOOTSTRAP_IDS,
    organizationName: 'system',
    tenantName: 'default',
    environment: settings.ENV,
  };
  await workspaces.createTenant(workspace, command);
  await workspaces.createApplication(workspace, command);
  const created = await accounts.create(
    {
      id: userId,
      email,
      emailHash: await people.hashOf(tenantId, email),
      emailVerified: true,
      displayName: null,
      avatarUrl: null,
      roles: ['system_admin', 'owner', 'admin'],
      passwordHash: await passwords.hash(settings.ADMIN_PASSWORD.reveal()),
      via: 'bootstrap',
      vouched: true,
      requestHash: null,
    },
    command,
  );
  if (created.outcome === 'taken') identity.log.warn({}, 'ADMIN_EMAIL belongs to another user');
}
