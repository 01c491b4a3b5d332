/** Makes an organization, its tenant, its first administrator and the application `default`. */
import type { Command } from '@cardea/event-store';
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import { uuidFrom } from '@cardea/runtime';
import { alreadyCreated, newId, type ServiceNeeds } from '@cardea/service';
import Type, { type Static } from 'typebox';
import {
  type Accounts,
  displayName,
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
import {
  displayNameField,
  emailField,
  filledNameField,
  newPasswordField,
} from '../../../http/input-fields.ts';
import { LIMITS } from '../../../http/limits.ts';
import type { PostOffice } from '../../../mail/mail.module.ts';
import type { LoginSessions } from '../../../sessions/sessions.module.ts';
import { signupReservations } from '../../../streams/reservation.ts';
import {
  companyName,
  DEPLOYMENT,
  type NewWorkspace,
  TENANT_DEFAULTS,
  type Workspaces,
} from '../../../workspaces/workspaces.module.ts';
import { CHECK_YOUR_EMAIL, pad, unnamed } from '../taken-address.ts';

type Needs = Pick<
  ServiceNeeds,
  'command' | 'identify' | 'ids' | 'limits' | 'sealer' | 'settings' | 'streams'
> & {
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'hashOf'>;
  readonly accounts: Pick<Accounts, 'create' | 'hold'>;
  readonly workspaces: Pick<Workspaces, 'createApplication' | 'createTenant'>;
  readonly loginSessions: Pick<LoginSessions, 'start'>;
  readonly postOffice: Pick<PostOffice, 'request'>;
  readonly passwords: Pick<Passwords, 'hash'>;
  readonly toAscii: ToAscii;
};

const Body = closed({
  email: emailField,
  password: newPasswordField,
  company_name: filledNameField,
  display_name: Type.Optional(displayNameField),
});
type Asked = Request<object, object, Static<typeof Body>>;

/** Appends of a success beside the mail: sign-up, organization, slug, tenant, e-mail, user, application, session. */
const OTHER_APPENDS = 8;

export const signUpRoute = (needs: Needs): Endpoint =>
  endpoint(
    {
      name: 'sign_up',
      summary: 'Sign up: make an organization, a tenant and its administrator',
      tag: 'Authentication',
      method: 'post',
      path: '/api/v1/auth/signup',
      who: 'anyone',
      tenant: 'none',
      area: 'user',
      body: Body,
      ok: Type.Union([
        closed({
          user_id: Type.String(),
          tenant_id: Type.String(),
          ...tokenFields,
          email_verified: Type.Boolean(),
        }),
        closed({ status: Type.Literal(CHECK_YOUR_EMAIL), user_id: Type.Literal('') }),
      ]),
      status: 201,
      refusals: {
        invalid_email: 400,
        invalid_request: 400,
        password_too_short: 400,
        password_too_long: 400,
        password_too_weak: 400,
        signup_disabled: 403,
        already_created: 409,
        rate_limited: 429,
      },
      noStore: true,
      idempotent: 'by_handler',
      waitsFor: ['workspaces', 'users', 'sessions'],
      bodyLimitBytes: PASSWORD_BODY_MAX_BYTES,
    },
    async (request) => {
      const { body } = request;
      if (!needs.settings.SIGNUP_ENABLED) return { refused: 'signup_disabled' };
      const email = emailAddress(body.email, needs.toAscii);
      if (email === undefined) return { refused: 'invalid_email' };
      const company = companyName(body.company_name);
      const name = displayName(body.display_name ?? null);
      if (company === undefined) return badField('company_name');
      if (name === undefined) return badField('display_name');
      const fault = passwordFault(body.password, TENANT_DEFAULTS.password_policy);
      if (fault !== undefined) return { refused: fault };
      const byIp = await needs.limits.take(LIMITS.registrationsByIp, request.ip);
      if (!byIp.allowed) return tooOften(byIp);
      return await signedUp(needs, await needs.identify(request), { email, company, name });
    },
  );

type Told = { readonly email: string; readonly company: string; readonly name: string | null };

async function signedUp(needs: Needs, request: Asked, { email, company, name }: Told) {
  const userId = newId(needs, request, 'user');
  const workspace = newWorkspace(needs, request, company);
  const { tenantId } = workspace;
  const repeat = await repeatedCreation(needs, request, { tenantId, userId });
  if (repeat !== undefined) return repeat;

  const passwordHash = await needs.passwords.hash(request.body.password);
  const command = await needs.command(request, {
    tenantId,
    actor: { type: 'user', id: userId },
  });
  const signup = await needs.accounts.hold(
    signupReservations,
    {
      id: await needs.sealer.indexHash('deployment', 'signup', email),
      owner: { tenantId, userId },
    },
    { ...command, metadata: { ...command.metadata, tenantId: DEPLOYMENT } },
  );
  if (!signup.held) return await taken(needs, { email, tenantId: signup.by.tenantId }, command);

  const tenant = await needs.workspaces.createTenant(workspace, command);
  const emailHash = await needs.userDirectory.hashOf(tenantId, email);
  const created = await needs.accounts.create(
    {
      id: userId,
      email,
      emailHash,
      emailVerified: false,
      displayName: name,
      avatarUrl: null,
      roles: ['owner', 'admin'],
      passwordHash,
      via: 'signup',
      vouched: true,
      requestHash: null,
    },
    command,
  );
  if (created.outcome === 'deleted') return alreadyCreated(userId);
  if (created.outcome === 'taken') throw new Error('an address is taken in a tenant just made');
  await needs.workspaces.createApplication(workspace, command);
  await needs.postOffice.request({ purpose: 'verify', email, emailHash, userId }, command);
  const started = await needs.loginSessions.start(
    {
      sid: newId(needs, request, 'session'),
      user: created.user,
      readAt: command.now,
      tenant,
      via: 'signup',
      method: 'password',
      amr: ['pwd'],
      ip: request.ip,
      userAgent: request.userAgent,
      appId: request.appId ?? null,
    },
    command,
  );
  if (started === 'erased') return { ok: { status: CHECK_YOUR_EMAIL, user_id: '' as const } };
  const ok = { user_id: userId, tenant_id: tenantId, ...started.tokens, email_verified: false };
  return { ok, wrote: started.position };
}

const newWorkspace = (
  needs: Pick<Needs, 'ids' | 'settings'>,
  request: Asked,
  company: string,
): NewWorkspace => ({
  organizationId: newId(needs, request, 'organization'),
  tenantId: newId(needs, request, 'tenant'),
  applicationId: newId(needs, request, 'application'),
  organizationName: company,
  tenantName: company,
  environment: needs.settings.ENV,
});

/** Tells the holder of the address, in their own tenant, and nobody else anything. */
async function taken(
  needs: Pick<Needs, 'postOffice' | 'streams' | 'userDirectory'>,
  { email, tenantId }: { readonly email: string; readonly tenantId: string },
  command: Command,
) {
  const emailHash = await needs.userDirectory.hashOf(tenantId, email);
  const { metadata } = unnamed(command);
  // The context was sealed for another tenant's day, so it does not go along.
  const { ip: _ip, userAgent: _userAgent, ...rest } = metadata;
  const theirs = {
    ...command,
    id: uuidFrom(command.id, 'notice'),
    metadata: { ...rest, tenantId },
  };
  const wrote = await needs.postOffice.request(
    { purpose: 'notice', email, emailHash, userId: null },
    theirs,
  );
  await pad(needs, { ...theirs, id: command.id }, OTHER_APPENDS);
  return { ok: { status: CHECK_YOUR_EMAIL, user_id: '' as const }, wrote };
}
