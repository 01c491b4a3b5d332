/** Signs a user in with a password. Whether the address, the password or the account was wrong is not told. */

import { accept } from '@cardea/event-store';
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import { metrics, uuidFrom } from '@cardea/runtime';
import Type, { type Static } from 'typebox';
import { emailAddress } from '../../../accounts/email-address.ts';
import { type ExistingUser, exists, type User, users } from '../../../accounts/users/user.ts';
import { closed, PASSWORD_BODY_MAX_BYTES, tokenFields } from '../../../http/answers.ts';
import { type Identity, newId } from '../../../identity.ts';
import type { TenantFacts } from '../../../workspaces/tenants/tenant.ts';

const Body = closed({ email: Type.String(), password: Type.String() });
type Asked = Request<object, object, Static<typeof Body>>;

export const logInRoute = (identity: Identity): Endpoint =>
  endpoint(
    {
      name: 'log_in',
      summary: 'Sign in with e-mail and password',
      tag: 'Authentication',
      method: 'post',
      path: '/api/v1/auth/login',
      who: 'anyone',
      tenant: 'required',
      area: 'user',
      body: Body,
      ok: closed({
        user_id: Type.String(),
        ...tokenFields,
        email_verified: Type.Boolean(),
        mfa_required: Type.Boolean(),
      }),
      refusals: {
        invalid_email: 400,
        invalid_credentials: 401,
        email_not_verified: 403,
        password_login_disabled: 403,
        tenant_not_found: 404,
        too_many_attempts: 429,
        rate_limited: 429,
      },
      noStore: true,
      waitsFor: ['sessions', 'users'],
      recordsItsRefusals: true,
      bodyLimitBytes: PASSWORD_BODY_MAX_BYTES,
    },
    async (request) => {
      const email = emailAddress(request.body.email, identity.toAscii);
      if (email === undefined) return { refused: 'invalid_email' };
      const tenant = await identity.workspaces.tenant(request.tenantId);
      if (tenant === undefined) return { refused: 'tenant_not_found' };
      const emailHash = await identity.people.hashOf(tenant.id, email);
      const readAt = identity.clock.now();
      const user = await identity.people.byHash(tenant.id, emailHash);
      return await attempted(identity, request, { tenant, emailHash, user, readAt });
    },
  );

type Found = {
  readonly tenant: TenantFacts;
  readonly emailHash: string;
  readonly user: User;
  readonly readAt: Date;
};

async function attempted(identity: Identity, request: Asked, found: Found) {
  const { tenant, emailHash, user, readAt } = found;
  const command = await identity.command(request, {
    tenantId: tenant.id,
    ...(exists(user) ? { actor: { type: 'user', id: user.id } as const } : {}),
  });
  const objection = objectionTo(tenant, user);
  const attempt = await identity.signInGuard.attempt(
    {
      emailHash,
      user,
      password: request.body.password,
      method: 'password',
      ip: request.ip,
      objection,
    },
    command,
  );
  metrics.logins.inc({ outcome: attempt.outcome });
  switch (attempt.outcome) {
    case 'limited':
    case 'blocked':
      return {
        refused: attempt.outcome === 'limited' ? 'rate_limited' : 'too_many_attempts',
        headers: { 'Retry-After': String(attempt.retryAfterSeconds) },
      } as const;
    case 'wrong':
      return { refused: 'invalid_credentials' } as const;
    case 'objection':
      return { refused: objection ?? 'invalid_credentials' } as const;
    case 'right':
      if (!exists(user)) throw new Error('nobody signed in');
      if (attempt.rehashed !== undefined) await rehash(identity, user, attempt.rehashed, command);
      return await signedIn(identity, request, { tenant, user, readAt, command });
  }
}

const objectionTo = (tenant: TenantFacts, user: User) => {
  if (!tenant.settings.auth_methods.includes('password')) return 'password_login_disabled';
  if (!tenant.settings.email_verification_required || !exists(user)) return undefined;
  return user.emailVerified ? undefined : 'email_not_verified';
};

type IdentityCommand = Awaited<ReturnType<Identity['command']>>;

async function signedIn(
  identity: Identity,
  request: Asked,
  of: {
    readonly tenant: TenantFacts;
    readonly user: ExistingUser;
    readonly readAt: Date;
    readonly command: IdentityCommand;
  },
) {
  const { tenant, user, readAt, command } = of;
  const started = await identity.loginSessions.start(
    {
      sid: newId(identity, request, 'session'),
      user,
      readAt,
      tenant,
      via: 'login',
      method: 'password',
      amr: ['pwd'],
      ip: request.ip,
      userAgent: request.userAgent,
      appId: request.appId ?? null,
    },
    command,
  );
  if (started === 'erased') return { refused: 'invalid_credentials' } as const;
  const ok = {
    user_id: user.id,
    ...started.tokens,
    email_verified: user.emailVerified,
    mfa_required: false,
  };
  return { ok, wrote: started.position };
}

/** Today's parameters, while the password is at hand. */
async function rehash(
  { people, streams }: Identity,
  user: ExistingUser,
  phc: string,
  command: IdentityCommand,
): Promise<void> {
  const of = { tenantId: command.metadata.tenantId, userId: user.id };
  const hash = await people.seal(of, 'password_hash', phc);
  if (hash === 'erased') return;
  const own = { ...command, id: uuidFrom(command.id, 'rehash') };
  await streams.decideOn(users, user.id, own, (state) =>
    exists(state) && state.passwordHash?.box === user.passwordHash?.box
      ? accept({ type: 'PasswordRehashed', data: { id: user.id, hash } })
      : accept(),
  );
}
