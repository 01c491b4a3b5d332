/** Adds a user to a tenant. An address that is taken gets an answer of the same status and shape. */
import { named } from '@cardea/contracts';
import type { Command } from '@cardea/event-store';
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import { alreadyCreated, newId, type ServiceDependencies } from '@cardea/service';
import Type, { type Static } from 'typebox';
import {
  ACCOUNT_APPENDS,
  type Accounts,
  type ExistingUser,
  type Passwords,
  repeatedCreation,
  type ToAscii,
  type UserDirectory,
} from '../../../accounts/accounts.module.ts';
import {
  closed,
  PASSWORD_BODY_MAX_BYTES,
  SecondFactorDue,
  tokenFields,
  tooOften,
} from '../../../http/answers.ts';
import { displayNameField, emailField, newPasswordField } from '../../../http/input-fields.ts';
import { LIMITS } from '../../../http/limits.ts';
import type { MailOutbox } from '../../../mail/mail.module.ts';
import { type Language, languageOf } from '../../../pages/texts.ts';
import {
  type TenantFacts,
  tenantOfPublishableKey,
  type Workspaces,
} from '../../../workspaces/workspaces.module.ts';
import { begin, meet } from '../../attempts/attempt.ts';
import type { EndAttempt } from '../../attempts/end-attempt.ts';
import { appendsOf, step } from '../steps.ts';
import { CHECK_YOUR_EMAIL, CheckYourEmail, pad, unnamed } from '../taken-address.ts';
import {
  answerOfRegistration,
  mailAfter,
  objectionTo,
  type Registrant,
  registrantOf,
  startsSession,
  tenantNamed,
  withoutTokens,
} from './register.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'clock' | 'command' | 'database' | 'identify' | 'ids' | 'limits' | 'streams'
> & {
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'hashOf'>;
  readonly accounts: Pick<Accounts, 'create'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly endAttempt: EndAttempt;
  readonly mailOutbox: Pick<MailOutbox, 'request'>;
  readonly passwords: Pick<Passwords, 'hash' | 'isBreached'>;
  readonly toAscii: ToAscii;
};

const Body = closed({
  email: emailField,
  password: newPasswordField,
  display_name: Type.Optional(displayNameField),
  publishable_key: Type.Optional(Type.String()),
});
type Body = Static<typeof Body>;
type Asked = Request<object, object, Body>;

const Ok = Type.Union([
  named('Registered', closed({ user_id: Type.String(), ...tokenFields })),
  named(
    'RegisteredUnverified',
    closed({ user_id: Type.String(), verification_required: Type.Literal(true) }),
  ),
  CheckYourEmail,
  named(
    'CheckYourEmailToVerify',
    closed({
      status: Type.Literal(CHECK_YOUR_EMAIL),
      user_id: Type.Literal(''),
      verification_required: Type.Literal(true),
    }),
  ),
  SecondFactorDue,
]);

export const registerRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      name: 'register',
      summary: 'Register a user in an existing tenant',
      tag: 'Authentication',
      method: 'post',
      path: '/api/v1/auth/register',
      who: 'anyone',
      tenant: 'optional',
      area: 'user',
      body: Body,
      ok: Ok,
      status: 201,
      refusals: {
        invalid_email: 400,
        invalid_request: 400,
        password_too_short: 400,
        password_too_long: 400,
        password_too_weak: 400,
        password_breached: 400,
        tenant_required: 400,
        invalid_publishable_key: 401,
        tenant_mismatch: 403,
        registration_closed: 403,
        tenant_not_found: 404,
        already_created: 409,
        rate_limited: 429,
      },
      noStore: true,
      idempotent: 'by_handler',
      waitsFor: ['users', 'sessions'],
      bodyLimitBytes: PASSWORD_BODY_MAX_BYTES,
    },
    async (request) => {
      const { body } = request;
      const read = registrantOf(body, needs.toAscii);
      if ('refused' in read) return read;
      const tenant = await tenantAsked(needs, request);
      if (typeof tenant === 'string') return { refused: tenant };
      const objection = objectionTo(body.password, tenant.settings);
      if (objection !== undefined) return { refused: objection };

      const byIp = await needs.limits.take(LIMITS.registrationsByIp, request.ip);
      if (!byIp.allowed) return tooOften(byIp);
      const byTenant = await needs.limits.take(LIMITS.registrationsByTenant, tenant.id);
      if (!byTenant.allowed) return tooOften(byTenant);
      const { password_policy: policy } = tenant.settings;
      if (await needs.passwords.isBreached(body.password, policy)) {
        return { refused: 'password_breached' };
      }
      const of = { tenant, ...read.registrant };
      const answer = await registered(needs, await needs.identify(request), of);
      return 'ok' in answer ? { ...answer, ofTenant: tenant.id } : answer;
    },
  );

async function tenantAsked(
  needs: Pick<Dependencies, 'clock' | 'database' | 'workspaces'>,
  { body, tenantId }: Asked,
) {
  const { publishable_key: key } = body;
  const byKey = key === undefined ? key : ((await tenantOfPublishableKey(needs, key)) ?? null);
  const named = tenantNamed({ byHeader: tenantId, byKey });
  if ('refused' in named) return named.refused;
  return (await needs.workspaces.tenant(named.tenantId)) ?? 'tenant_not_found';
}

type Registering = Registrant & { readonly tenant: TenantFacts };

/** In this order. The mail is sent to the owner of a taken address, too, so it hides nothing. */
const STEPS = {
  account: step(ACCOUNT_APPENDS, createAccount),
  mail: step(1, askForMail),
  session: step(1, startSession),
} as const;

type Making = Registering & {
  readonly userId: string;
  readonly emailHash: string;
  readonly passwordHash: string;
  readonly language: Language | undefined;
  readonly command: Command;
};

async function registered(needs: Dependencies, request: Asked, of: Registering) {
  const { tenant, email } = of;
  const userId = newId(needs, request, 'user');
  const repeat = await repeatedCreation(needs, request, { tenantId: tenant.id, userId });
  if (repeat !== undefined) return repeat;

  const emailHash = await needs.userDirectory.hashOf(tenant.id, email);
  const passwordHash = await needs.passwords.hash(request.body.password);
  const command = await needs.command(request, {
    tenantId: tenant.id,
    actor: { type: 'user', id: userId },
  });
  const language = languageOf(request.headers);
  const making = { ...of, userId, emailHash, passwordHash, language, command };
  const created = await STEPS.account.run(needs, making);
  if (created.outcome === 'deleted') return alreadyCreated(userId);
  const mailed = await STEPS.mail.run(needs, making, created.outcome);
  if (created.outcome === 'taken') {
    const hidden = [STEPS.account, ...(startsSession(tenant.settings) ? [STEPS.session] : [])];
    await pad(needs, command, appendsOf(hidden));
    return { ok: withoutTokens(tenant.settings), wrote: mailed };
  }
  const ended = await STEPS.session.run(needs, making, { request, user: created.user });
  const ok = answerOfRegistration(ended, { userId, settings: tenant.settings });
  return { ok, wrote: ended.status === 'session' ? ended.wrote : (mailed ?? created.position) };
}

async function createAccount({ accounts }: Dependencies, of: Making) {
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

async function askForMail({ mailOutbox }: Dependencies, of: Making, outcome: 'created' | 'taken') {
  const command = outcome === 'taken' ? unnamed(of.command) : of.command;
  return mailOutbox.request(mailAfter(outcome, of), command);
}

/** Who just chose the password knows it. */
async function startSession(
  { endAttempt }: Dependencies,
  { tenant, command }: Making,
  { request, user }: { readonly request: Asked; readonly user: ExistingUser },
) {
  const { settings } = tenant;
  const begun = begin({ via: 'register', first: 'password', user, settings });
  const attempt = meet(begun, true);
  if (attempt.status === 'refused') return attempt;
  return endAttempt.inSession(attempt, { request, tenant, readAt: command.now }, command);
}
