/** Signs a user in with a password. Whether the address, the password or the account was wrong is not told. */
import { accept, type Command } from '@cardea/event-store';
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import { metrics, uuidFrom } from '@cardea/runtime';
import { newId, type ServiceNeeds } from '@cardea/service';
import Type, { type Static } from 'typebox';
import {
  type ExistingUser,
  emailAddress,
  exists,
  type ToAscii,
  type User,
  type UserDirectory,
  users,
} from '../../../accounts/accounts.module.ts';
import { closed, PASSWORD_BODY_MAX_BYTES, tokenFields } from '../../../http/answers.ts';
import { emailField } from '../../../http/input-fields.ts';
import type { LoginSessions } from '../../../sessions/sessions.module.ts';
import type { TenantFacts, Workspaces } from '../../../workspaces/workspaces.module.ts';
import type { SignInGuard } from '../../sign-in-guard.ts';

type Needs = Pick<ServiceNeeds, 'clock' | 'command' | 'ids' | 'streams'> & {
  readonly userDirectory: Pick<UserDirectory, 'byHash' | 'hashOf' | 'seal'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly loginSessions: Pick<LoginSessions, 'start'>;
  readonly signInGuard: Pick<SignInGuard, 'attempt'>;
  readonly toAscii: ToAscii;
};

const Body = closed({ email: emailField, password: Type.String() });
type Asked = Request<object, object, Static<typeof Body>>;

export const logInRoute = (needs: Needs): Endpoint =>
  endpoint(
    {
      name: 'log_in',
      retry: 'never',
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
      const email = emailAddress(request.body.email, needs.toAscii);
      if (email === undefined) return { refused: 'invalid_email' };
      const tenant = await needs.workspaces.tenant(request.tenantId);
      if (tenant === undefined) return { refused: 'tenant_not_found' };
      const emailHash = await needs.userDirectory.hashOf(tenant.id, email);
      const readAt = needs.clock.now();
      const user = await needs.userDirectory.byHash(tenant.id, emailHash);
      return await attempted(needs, request, { tenant, emailHash, user, readAt });
    },
  );

type Found = {
  readonly tenant: TenantFacts;
  readonly emailHash: string;
  readonly user: User;
  readonly readAt: Date;
};

async function attempted(needs: Needs, request: Asked, found: Found) {
  const { tenant, emailHash, user, readAt } = found;
  const command = await needs.command(request, {
    tenantId: tenant.id,
    ...(exists(user) ? { actor: { type: 'user', id: user.id } as const } : {}),
  });
  const objection = objectionTo(tenant, user);
  const attempt = await needs.signInGuard.attempt(
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
      if (attempt.rehashed !== undefined) await rehash(needs, user, attempt.rehashed, command);
      return await signedIn(needs, request, { tenant, user, readAt, command });
  }
}

const objectionTo = (tenant: TenantFacts, user: User) => {
  if (!tenant.settings.auth_methods.includes('password')) return 'password_login_disabled';
  if (!tenant.settings.email_verification_required || !exists(user)) return undefined;
  return user.emailVerified ? undefined : 'email_not_verified';
};

async function signedIn(
  needs: Pick<Needs, 'ids' | 'loginSessions'>,
  request: Asked,
  of: {
    readonly tenant: TenantFacts;
    readonly user: ExistingUser;
    readonly readAt: Date;
    readonly command: Command;
  },
) {
  const { tenant, user, readAt, command } = of;
  const started = await needs.loginSessions.start(
    {
      sid: newId(needs, request, 'session'),
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
  { userDirectory, streams }: Pick<Needs, 'streams' | 'userDirectory'>,
  user: ExistingUser,
  phc: string,
  command: Command,
): Promise<void> {
  const of = { tenantId: command.metadata.tenantId, userId: user.id };
  const hash = await userDirectory.seal(of, 'password_hash', phc);
  if (hash === 'erased') return;
  const own = { ...command, id: uuidFrom(command.id, 'rehash') };
  await streams.decideOn(users, user.id, own, (state) =>
    exists(state) && state.passwordHash?.box === user.passwordHash?.box
      ? accept({ type: 'PasswordRehashed', data: { id: user.id, hash } })
      : accept(),
  );
}
