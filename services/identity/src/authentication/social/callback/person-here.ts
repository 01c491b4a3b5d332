/**
 * Finds the user of an external person: the user to whom the external account is linked; otherwise the user whose
 * address it proves; otherwise a new user, if the tenant is open. If the provider has no authority over the address,
 * the address opens no existing account, and a new account has to prove it by mail.
 */
import { type Command, WriteContention } from '@cardea/event-store';
import type { Request } from '@cardea/http';
import { languageOf } from '@cardea/pages';
import { newId, type ServiceDependencies } from '@cardea/service';
import {
  type Accounts,
  type ExistingUser,
  exists,
  type UserDirectory,
} from '../../../accounts/accounts.module.ts';
import { tooOften } from '../../../http/answers.ts';
import { LIMITS } from '../../../http/limits.ts';
import type { MailOutbox } from '../../../mail/mail.module.ts';
import { countAliveSessions } from '../../../sessions/sessions.module.ts';
import type { TenantFacts } from '../../../workspaces/workspaces.module.ts';
import type { ExternalPerson } from '../external-person.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'clock' | 'command' | 'database' | 'ids' | 'limits'
> & {
  readonly accounts: Pick<Accounts, 'create' | 'identities'>;
  readonly mailOutbox: Pick<MailOutbox, 'request'>;
  readonly userDirectory: Pick<UserDirectory, 'byHash' | 'hashOf'>;
};

type Refused =
  | {
      readonly refused:
        | 'email_not_verified'
        | 'registration_closed'
        | 'user_inactive'
        | 'other_identity';
    }
  | ReturnType<typeof tooOften>;
type Here =
  | { readonly user: ExistingUser; readonly isNew: boolean; readonly command: Command }
  | Refused;

/**
 * Another request may be creating the same person: its reservation exists before the account does. A reservation
 * without an account expires after a minute.
 */
const LOOKS_MAX = 20;
const LOOK_PAUSE_MS = 50;

export async function personHere(
  needs: Dependencies,
  request: Request<unknown, unknown, unknown>,
  of: { readonly tenant: TenantFacts; readonly person: ExternalPerson },
): Promise<Here> {
  const { tenant, person } = of;
  const commandOf = (id: string) =>
    needs.command(request, { tenantId: tenant.id, actor: { type: 'user', id } });
  const linked = await needs.accounts.identities.find(tenant.id, person.account);
  if (linked !== undefined) {
    return { user: linked, isNew: false, command: await commandOf(linked.id) };
  }
  if (person.email === null) return { refused: 'email_not_verified' };
  const emailHash = await needs.userDirectory.hashOf(tenant.id, person.email);
  const proven = { ...person, email: person.email, emailHash };
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    const user = await needs.userDirectory.byHash(tenant.id, emailHash);
    if (exists(user)) {
      if (person.vouched === 'seen') return { refused: 'email_not_verified' };
      return await link(needs, { user, person, tenant }, await commandOf(user.id));
    }
    if (tenant.settings.registration.mode !== 'open') return { refused: 'registration_closed' };
    const id = newId(needs, request, `user ${look}`);
    const created = await create(needs, request, { id, tenant, proven }, await commandOf(id));
    if (created !== undefined) return created;
    await needs.clock.sleep(LOOK_PAUSE_MS);
  }
  throw new WriteContention('an address is reserved, and nobody has it');
}

async function link(
  { accounts, database }: Dependencies,
  of: {
    readonly user: ExistingUser;
    readonly person: ExternalPerson;
    readonly tenant: TenantFacts;
  },
  command: Command,
): Promise<Here> {
  const { user, person, tenant } = of;
  const sessions = { tenantId: tenant.id, userId: user.id, now: command.now };
  const count = user.emailVerified ? 0 : (await countAliveSessions(database, sessions)).all;
  const linking = { userId: user.id, external: person.account, count };
  const linked = await accounts.identities.link(linking, command);
  return 'refused' in linked ? linked : { user: linked.user, isNew: false, command };
}

type Proven = ExternalPerson & { readonly email: string; readonly emailHash: string };

/** Returns undefined if the address was taken in the meantime. */
async function create(
  { accounts, limits, mailOutbox }: Dependencies,
  { headers, ip }: Request<unknown, unknown, unknown>,
  of: { readonly id: string; readonly tenant: TenantFacts; readonly proven: Proven },
  command: Command,
): Promise<Here | undefined> {
  const { id, tenant, proven } = of;
  const byIp = await limits.take([LIMITS.registrationsByIp, ip]);
  if (!byIp.allowed) return tooOften(byIp);
  const byTenant = await limits.take([LIMITS.registrationsByTenant, tenant.id]);
  if (!byTenant.allowed) return tooOften(byTenant);
  const { account: external, email, emailHash, displayName, avatarUrl, vouched } = proven;
  const emailVerified = vouched === 'owner';
  const created = await accounts.create(
    {
      id,
      external,
      email,
      emailHash,
      emailVerified,
      displayName,
      avatarUrl,
      roles: ['member'],
      passwordHash: null,
      via: 'social',
      vouched: false,
      requestHash: null,
    },
    command,
  );
  if (created.outcome !== 'created') return undefined;
  if (!emailVerified) {
    const language = languageOf(headers);
    await mailOutbox.request(
      { purpose: 'verify', email, emailHash, userId: id, language },
      command,
    );
  }
  return { user: created.user, isNew: true, command };
}
