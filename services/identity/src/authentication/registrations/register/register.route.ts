/** Adds a user to a tenant. An address that is taken gets an answer of the same status and shape. */
import type { Command } from '@cardea/event-store';
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import { alreadyCreated, newId, type ServiceDependencies } from '@cardea/service';
import Type, { type Static } from 'typebox';
import {
  ACCOUNT_APPENDS,
  type Accounts,
  displayName,
  type ExistingUser,
  emailAddress,
  type Passwords,
  passwordFault,
  repeatedCreation,
  type ToAscii,
  type UserDirectory,
} from '../../../accounts/accounts.module.ts';
import {
  badField,
  closed,
  PASSWORD_BODY_MAX_BYTES,
  tokenFields,
  tooOften,
} from '../../../http/answers.ts';
import { displayNameField, emailField, newPasswordField } from '../../../http/input-fields.ts';
import { LIMITS } from '../../../http/limits.ts';
import type { MailOutbox } from '../../../mail/mail.module.ts';
import {
  isUniform,
  type TenantFacts,
  tenantOfPublishableKey,
  type Workspaces,
} from '../../../workspaces/workspaces.module.ts';
import { begin, meet } from '../../attempts/attempt.ts';
import type { EndAttempt } from '../../attempts/end-attempt.ts';
import { appendsOf, step } from '../steps.ts';
import { CHECK_YOUR_EMAIL, pad, unnamed } from '../taken-address.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'command' | 'database' | 'identify' | 'ids' | 'limits' | 'streams'
> & {
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'hashOf'>;
  readonly accounts: Pick<Accounts, 'create'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly endAttempt: EndAttempt;
  readonly postOffice: Pick<MailOutbox, 'request'>;
  readonly passwords: Pick<Passwords, 'hash'>;
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
  closed({ user_id: Type.String(), ...tokenFields }),
  closed({ user_id: Type.String(), verification_required: Type.Literal(true) }),
  closed({ status: Type.Literal(CHECK_YOUR_EMAIL), user_id: Type.Literal('') }),
  closed({
    status: Type.Literal(CHECK_YOUR_EMAIL),
    user_id: Type.Literal(''),
    verification_required: Type.Literal(true),
  }),
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
      const email = emailAddress(body.email, needs.toAscii);
      if (email === undefined) return { refused: 'invalid_email' };
      const name = displayName(body.display_name ?? null);
      if (name === undefined) return badField('display_name');
      const tenant = await tenantAsked(needs, request);
      if (typeof tenant === 'string') return { refused: tenant };
      if (tenant.settings.registration.mode !== 'open') return { refused: 'registration_closed' };
      const fault = passwordFault(body.password, tenant.settings.password_policy);
      if (fault !== undefined) return { refused: fault };

      const byIp = await needs.limits.take(LIMITS.registrationsByIp, request.ip);
      if (!byIp.allowed) return tooOften(byIp);
      const byTenant = await needs.limits.take(LIMITS.registrationsByTenant, tenant.id);
      if (!byTenant.allowed) return tooOften(byTenant);
      return await registered(needs, await needs.identify(request), {
        tenant,
        email,
        displayName: name,
      });
    },
  );

async function tenantAsked(
  needs: Pick<Dependencies, 'database' | 'workspaces'>,
  { body, tenantId }: Asked,
): Promise<
  | TenantFacts
  | 'tenant_required'
  | 'invalid_publishable_key'
  | 'tenant_mismatch'
  | 'tenant_not_found'
> {
  let id = tenantId;
  if (body.publishable_key !== undefined) {
    const keyed = await tenantOfPublishableKey(needs, body.publishable_key);
    if (keyed === undefined) return 'invalid_publishable_key';
    if (id !== '' && id !== keyed) return 'tenant_mismatch';
    id = keyed;
  }
  if (id === '') return 'tenant_required';
  return (await needs.workspaces.tenant(id)) ?? 'tenant_not_found';
}

type Registering = {
  readonly tenant: TenantFacts;
  readonly email: string;
  readonly displayName: string | null;
};

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
  const making = { ...of, userId, emailHash, passwordHash, command };
  const created = await STEPS.account.run(needs, making);
  if (created.outcome === 'deleted') return alreadyCreated(userId);
  const mailed = await STEPS.mail.run(needs, making, created.outcome === 'taken');
  if (created.outcome === 'taken') {
    const withSession = !tenant.settings.email_verification_required;
    const hidden = [STEPS.account, ...(withSession ? [STEPS.session] : [])];
    await pad(needs, command, appendsOf(hidden));
    return { ok: withoutTokens(tenant), wrote: mailed };
  }
  const ended = await STEPS.session.run(needs, making, { request, user: created.user });
  if (ended.status === 'refused') {
    const isKnown = ended.reason === 'email_not_verified' && !isUniform(tenant.settings);
    const ok = isKnown
      ? { user_id: userId, verification_required: true as const }
      : withoutTokens(tenant);
    return { ok, wrote: mailed ?? created.position };
  }
  const { email_verified: _verified, mfa_required: _mfa, ...ok } = ended.signedIn;
  return { ok, wrote: ended.wrote };
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

async function askForMail({ postOffice }: Dependencies, of: Making, isTaken: boolean) {
  const { email, emailHash, userId, command } = of;
  return isTaken
    ? postOffice.request({ purpose: 'notice', email, emailHash, userId: null }, unnamed(command))
    : postOffice.request({ purpose: 'verify', email, emailHash, userId }, command);
}

/** Who just chose the password knows it. */
async function startSession(
  { endAttempt }: Dependencies,
  { tenant, command }: Making,
  { request, user }: { readonly request: Asked; readonly user: ExistingUser },
) {
  const { settings } = tenant;
  const begun = begin({ via: 'register', first: 'password', further: [], user, settings });
  const attempt = meet(begun, 'password', true);
  return endAttempt.inSession(attempt, { request, tenant, readAt: command.now }, command);
}

const withoutTokens = (tenant: TenantFacts) =>
  tenant.settings.email_verification_required
    ? {
        status: CHECK_YOUR_EMAIL,
        user_id: '' as const,
        verification_required: true as const,
      }
    : { status: CHECK_YOUR_EMAIL, user_id: '' as const };
