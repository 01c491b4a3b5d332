/** Makes an organization, its tenant, its first administrator and the application `default`. */
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import { uuidFrom } from '@cardea/runtime';
import Type, { type Static } from 'typebox';
import { emailAddress } from '../../../accounts/email-address.ts';
import { passwordFault } from '../../../accounts/passwords/passwords.ts';
import { signupReservations } from '../../../accounts/reservations/reservation.ts';
import { displayName } from '../../../accounts/users/profile-fields.ts';
import { badField, closed, PASSWORD_BODY_MAX_BYTES, tokenFields } from '../../../http/answers.ts';
import { LIMITS } from '../../../http/limits.ts';
import { type Identity, newId, tooOften } from '../../../identity.ts';
import { TENANT_DEFAULTS } from '../../../workspaces/tenants/tenant.ts';
import { companyName, DEPLOYMENT, type NewWorkspace } from '../../../workspaces/workspaces.ts';
import { alreadyCreated, CHECK_YOUR_EMAIL, pad, repeated, unnamed } from '../registering.ts';

const Body = closed({
  email: Type.String(),
  password: Type.String(),
  company_name: Type.String(),
  display_name: Type.Optional(Type.String()),
});
type Asked = Request<object, object, Static<typeof Body>>;

/** Appends of a success beside the mail: sign-up, organization, slug, tenant, e-mail, user, application, session. */
const OTHER_APPENDS = 8;

export const signUpRoute = (identity: Identity): Endpoint =>
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
      if (!identity.settings.SIGNUP_ENABLED) return { refused: 'signup_disabled' };
      const email = emailAddress(body.email, identity.toAscii);
      if (email === undefined) return { refused: 'invalid_email' };
      const company = companyName(body.company_name);
      const name = displayName(body.display_name ?? null);
      if (company === undefined) return badField('company_name');
      if (name === undefined) return badField('display_name');
      const fault = passwordFault(body.password, TENANT_DEFAULTS.password_policy);
      if (fault !== undefined) return { refused: fault };
      const byIp = await identity.limits.take(LIMITS.registrationsByIp, request.ip);
      if (!byIp.allowed) return tooOften(byIp);
      return await signedUp(identity, await identity.identify(request), { email, company, name });
    },
  );

type Told = { readonly email: string; readonly company: string; readonly name: string | null };

async function signedUp(identity: Identity, request: Asked, { email, company, name }: Told) {
  const userId = newId(identity, request, 'user');
  const workspace = newWorkspace(identity, request, company);
  const { tenantId } = workspace;
  const repeat = await repeated(identity, request, { tenantId, userId });
  if (repeat !== undefined) return repeat;

  const passwordHash = await identity.passwords.hash(request.body.password);
  const command = await identity.command(request, {
    tenantId,
    actor: { type: 'user', id: userId },
  });
  const signup = await identity.accounts.hold(
    signupReservations,
    {
      id: await identity.sealer.indexHash('deployment', 'signup', email),
      owner: { tenantId, userId },
    },
    { ...command, metadata: { ...command.metadata, tenantId: DEPLOYMENT } },
  );
  if (!signup.held) return await taken(identity, { email, tenantId: signup.by.tenantId }, command);

  const tenant = await identity.workspaces.createTenant(workspace, command);
  const emailHash = await identity.people.hashOf(tenantId, email);
  const created = await identity.accounts.create(
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
  await identity.workspaces.createApplication(workspace, command);
  await identity.postOffice.request({ purpose: 'verify', email, emailHash, userId }, command);
  const started = await identity.loginSessions.start(
    {
      sid: newId(identity, request, 'session'),
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

const newWorkspace = (identity: Identity, request: Asked, company: string): NewWorkspace => ({
  organizationId: newId(identity, request, 'organization'),
  tenantId: newId(identity, request, 'tenant'),
  applicationId: newId(identity, request, 'application'),
  organizationName: company,
  tenantName: company,
  environment: identity.settings.ENV,
});

/** Tells the holder of the address, in their own tenant, and nobody else anything. */
async function taken(
  identity: Identity,
  { email, tenantId }: { readonly email: string; readonly tenantId: string },
  command: Awaited<ReturnType<Identity['command']>>,
) {
  const emailHash = await identity.people.hashOf(tenantId, email);
  const { metadata } = unnamed(command);
  // The context was sealed for another tenant's day, so it does not go along.
  const { ip: _ip, userAgent: _userAgent, ...rest } = metadata;
  const theirs = {
    ...command,
    id: uuidFrom(command.id, 'notice'),
    metadata: { ...rest, tenantId },
  };
  const wrote = await identity.postOffice.request(
    { purpose: 'notice', email, emailHash, userId: null },
    theirs,
  );
  await pad(identity, { ...theirs, id: command.id }, OTHER_APPENDS);
  return { ok: { status: CHECK_YOUR_EMAIL, user_id: '' as const }, wrote };
}
