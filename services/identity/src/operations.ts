/** What an operator does to identity beside its endpoints, from the command line: keys, and a first way in. */
import type { Command } from '@cardea/event-store';
import { uuidFrom } from '@cardea/runtime';
import { BOOTSTRAP_IDS } from './accounts/bootstrap.ts';
import { emailAddress } from './accounts/email-address.ts';
import { passwordFault } from './accounts/passwords/passwords.ts';
import type { Identity } from './identity.ts';
import type { RingKey } from './signing-keys/keyring.ts';
import type { OpenedKey } from './signing-keys/private-halves.ts';
import type { Revoked } from './signing-keys/signing-keys.ts';
import type { TenantFacts } from './workspaces/tenants/tenant.ts';

/** A key as operators see it. */
export type KeyStatus = {
  readonly kid: string;
  readonly state: RingKey['state'];
  readonly activate_at: string;
  readonly activated_at: string | null;
  readonly publish_until: string | null;
  /** Which JWT_SECRET its private half is sealed under. */
  readonly sealed_under: OpenedKey['under'];
};

export type NewAdmin = {
  readonly email: string;
  readonly password: string;
  /** The deployment's own tenant unless named. */
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
        | 'password_too_weak';
    };

export type IdentityOperations = {
  readonly keys: () => Promise<readonly KeyStatus[]>;
  readonly announceKey: (activateAt: Date) => Promise<string>;
  readonly promoteKey: (kid: string) => Promise<boolean>;
  readonly revokeKeys: () => Promise<Revoked>;
  /** Seals anew what signs, or is to sign, under the previous JWT_SECRET; answers how many keys. */
  readonly resealKeys: () => Promise<number>;
  readonly createAdmin: (admin: NewAdmin) => Promise<AdminMade>;
};

export function operationsOf(identity: Identity): IdentityOperations {
  const { signingKeys } = identity;
  return {
    keys: async () => {
      const { keys } = await signingKeys.ring();
      return Promise.all(
        keys.map(async (key) => statusOf(key, await signingKeys.sealedUnder(key))),
      );
    },
    announceKey: (activateAt) => signingKeys.announce(activateAt),
    promoteKey: (kid) => signingKeys.promote(kid),
    revokeKeys: () => signingKeys.revoke(),
    resealKeys: signingKeys.reseal,
    createAdmin: (admin) => createAdmin(identity, admin),
  };
}

const statusOf = (key: RingKey, sealedUnder: OpenedKey['under']): KeyStatus => ({
  kid: key.kid,
  state: key.state,
  activate_at: key.activateAt,
  activated_at: key.activatedAt,
  publish_until: key.publishUntil,
  sealed_under: sealedUnder,
});

/** Audited as the service's own act, for nobody has signed in. */
async function createAdmin(identity: Identity, asked: NewAdmin): Promise<AdminMade> {
  const { people, passwords, accounts, ids } = identity;
  const email = emailAddress(asked.email, identity.toAscii);
  if (email === undefined) return { refused: 'invalid_email' };
  const tenantId = asked.tenantId ?? BOOTSTRAP_IDS.tenantId;
  const userId = ids.next();
  const command = identity.systemCommand(tenantId, 'create admin', userId);
  const tenant = await tenantFor(identity, asked, command);
  if (tenant === undefined) return { refused: 'tenant_not_found' };
  const { password_policy: policy } = tenant.settings;
  const fault = passwordFault(asked.password, policy);
  if (fault !== undefined) return { refused: fault };
  const own = tenantId === BOOTSTRAP_IDS.tenantId ? ['system_admin'] : [];
  const created = await accounts.create(
    {
      id: userId,
      email,
      emailHash: await people.hashOf(tenantId, email),
      emailVerified: true,
      displayName: null,
      avatarUrl: null,
      roles: [...own, 'owner', 'admin'],
      passwordHash: await passwords.hash(asked.password),
      via: 'admin',
      vouched: true,
      requestHash: null,
    },
    command,
  );
  return created.outcome === 'created' ? { userId, tenantId } : { refused: 'email_already_exists' };
}

/** A deployment that was started without an administrator gets its own tenant with the first one. */
async function tenantFor(
  { workspaces, settings }: Identity,
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
  const made = await workspaces.createTenant(workspace, making);
  await workspaces.createApplication(workspace, making);
  return made;
}
