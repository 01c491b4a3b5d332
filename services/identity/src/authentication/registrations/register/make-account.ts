/**
 * Creates the account of a registration, at the API and at the hosted pages, with the same limits. A taken address
 * costs the same work.
 */
import type { Command } from '@cardea/event-store';
import type { Request } from '@cardea/http';
import type { Language } from '@cardea/mail';
import { languageOf } from '@cardea/pages';
import type { ServiceDependencies } from '@cardea/service';
import {
  ACCOUNT_APPENDS,
  type Accounts,
  type Passwords,
  type UserDirectory,
} from '../../../accounts/accounts.module.ts';
import { tooOften } from '../../../http/answers.ts';
import { LIMITS } from '../../../http/limits.ts';
import type { MailOutbox } from '../../../mail/mail.module.ts';
import type { TenantFacts } from '../../../workspaces/workspaces.module.ts';
import { appendsOf, type Step, step } from '../steps.ts';
import { pad, unnamed } from '../taken-address.ts';
import { mailAfter, objectionTo, type Registrant } from './register.ts';

export type MakingDependencies = Pick<
  ServiceDependencies,
  'command' | 'ids' | 'limits' | 'streams'
> & {
  readonly userDirectory: Pick<UserDirectory, 'hashOf'>;
  readonly accounts: Pick<Accounts, 'create'>;
  readonly mailOutbox: Pick<MailOutbox, 'request'>;
  readonly passwords: Pick<Passwords, 'hash' | 'objectionTo'>;
};
type AnyRequest = Request<unknown, unknown, unknown>;

/** The objections of the tenant, the limits or the password rules. They are checked before any account is looked up. */
export async function refusalOfRegistration(
  needs: Pick<MakingDependencies, 'limits' | 'passwords'>,
  of: { readonly ip: string; readonly password: string; readonly tenant: TenantFacts },
) {
  const { ip, password, tenant } = of;
  const objection = objectionTo(password, tenant.settings);
  if (objection !== undefined) return { refused: objection };
  const byIp = await needs.limits.take([LIMITS.registrationsByIp, ip]);
  if (!byIp.allowed) return tooOften(byIp);
  const byTenant = await needs.limits.take([LIMITS.registrationsByTenant, tenant.id]);
  if (!byTenant.allowed) return tooOften(byTenant);
  const { password_policy: policy } = tenant.settings;
  const weakness = await needs.passwords.objectionTo(password, policy, tenant.id);
  return weakness === undefined ? undefined : { refused: weakness };
}

/** The steps in their order. The owner of a taken address gets a mail, too, so the mail reveals nothing. */
const STEPS = {
  account: step(ACCOUNT_APPENDS, createAccount),
  mail: step(1, askForMail),
} as const;

export type Registering = Registrant & {
  readonly tenant: TenantFacts;
  readonly language?: Language | undefined;
  /** The interaction in which the registration was requested. */
  readonly interaction?: string;
};
export type AccountInMaking = Registering & {
  readonly userId: string;
  readonly emailHash: string;
  readonly passwordHash: string;
  readonly command: Command;
};

export async function beginMaking(
  needs: MakingDependencies,
  request: AnyRequest,
  of: Registering & { readonly userId: string; readonly password: string },
): Promise<AccountInMaking> {
  const { password, ...own } = of;
  const { tenant, userId } = own;
  const emailHash = await needs.userDirectory.hashOf(tenant.id, own.email);
  const passwordHash = await needs.passwords.hash(password, tenant.id);
  const command = await needs.command(request, {
    tenantId: tenant.id,
    actor: { type: 'user', id: userId },
  });
  const language = own.language ?? languageOf(request.headers);
  return { ...own, emailHash, passwordHash, language, command };
}

/**
 * Creates the account. `further` are steps that follow for a new account; for a taken address their cost is imitated.
 */
export async function makeAccount(
  needs: MakingDependencies,
  making: AccountInMaking,
  further: readonly Pick<Step<never, unknown>, 'appends'>[] = [],
) {
  const created = await STEPS.account.run(needs, making);
  if (created.outcome === 'deleted') return created;
  const mailed = await STEPS.mail.run(needs, making, created.outcome);
  if (created.outcome === 'taken') {
    await pad(needs, making.command, appendsOf([STEPS.account, ...further]));
  }
  return { ...created, mailed };
}

async function createAccount({ accounts }: MakingDependencies, of: AccountInMaking) {
  return accounts.create(
    {
      id: of.userId,
      email: of.email,
      emailHash: of.emailHash,
      emailVerified: false,
      displayName: of.displayName,
      avatarUrl: null,
      roles: ['member'],
      passwordHash: of.passwordHash,
      via: 'register',
      vouched: false,
      requestHash: null,
    },
    of.command,
  );
}

async function askForMail(
  { mailOutbox }: MakingDependencies,
  of: AccountInMaking,
  outcome: 'created' | 'taken',
) {
  const command = outcome === 'taken' ? unnamed(of.command) : of.command;
  return mailOutbox.request(mailAfter(outcome, { ...of, language: of.language }), command);
}
