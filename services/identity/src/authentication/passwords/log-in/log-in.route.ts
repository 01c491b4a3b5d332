/** Signs a user in with a password. Whether the address, the password or the account was wrong is not told. */
import type { Command } from '@cardea/event-store';
import { type Endpoint, endpoint } from '@cardea/http';
import { uuidFrom } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import {
  type ExistingUser,
  emailAddress,
  exists,
  type ToAscii,
  type UserDirectory,
  users,
} from '../../../accounts/accounts.module.ts';
import {
  closed,
  PASSWORD_BODY_MAX_BYTES,
  SecondFactorDue,
  SignedIn,
} from '../../../http/answers.ts';
import { emailField } from '../../../http/input-fields.ts';
import type { Workspaces } from '../../../workspaces/workspaces.module.ts';
import { begin } from '../../attempts/attempt.ts';
import { countSignIn, type EndAttempt } from '../../attempts/end-attempt.ts';
import { signins } from '../../attempts/lockout.ts';
import type { VerifyPassword } from '../../attempts/verify-password.ts';
import { refusalOfLogin, rehashPassword } from './log-in.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'command' | 'streams'> & {
  readonly userDirectory: Pick<UserDirectory, 'byHash' | 'hashOf' | 'seal'>;
  readonly workspaces: Pick<Workspaces, 'tenant' | 'wasActive'>;
  readonly verifyPassword: VerifyPassword;
  readonly endAttempt: EndAttempt;
  readonly toAscii: ToAscii;
};

const Body = closed({ email: emailField, password: Type.String() });

export const logInRoute = (needs: Dependencies): Endpoint =>
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
      ok: Type.Union([SignedIn, SecondFactorDue]),
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
      const isKnown =
        needs.workspaces.wasActive(request.tenantId) ||
        (await needs.workspaces.tenant(request.tenantId)) !== undefined;
      // Hashing would make a key for a tenant that does not exist.
      if (!isKnown) return { refused: 'tenant_not_found' };
      const emailHash = await needs.userDirectory.hashOf(request.tenantId, email);
      const readAt = needs.clock.now();
      const of = { tenantId: request.tenantId, id: emailHash };
      // Together, so that they are one trip to the store.
      const [tenant, user, signin] = await Promise.all([
        needs.workspaces.tenant(request.tenantId),
        needs.userDirectory.byHash(request.tenantId, emailHash),
        needs.streams.load(signins, of),
      ]);
      if (tenant === undefined) return { refused: 'tenant_not_found' };
      const command = await needs.command(request, {
        tenantId: tenant.id,
        ...(exists(user) ? { actor: { type: 'user', id: user.id } as const } : {}),
      });
      const begun = begin({
        via: 'login',
        first: 'password',
        user,
        settings: tenant.settings,
      });
      const { ip } = request;
      const { password } = request.body;
      const shown = { emailHash, password, method: 'password', ip, signin: signin.state };
      const { attempt, rehashed } = await needs.verifyPassword(begun, shown, command);
      countSignIn(attempt);
      if (attempt.status === 'refused') return refusalOfLogin(attempt);
      if (rehashed !== undefined) await rehash(needs, attempt.user, rehashed, command);
      const ended = await needs.endAttempt.inSession(attempt, { request, tenant, readAt }, command);
      if (ended.status === 'refused') return refusalOfLogin(ended);
      return ended.status === 'second_factor_due'
        ? { ok: ended.answer }
        : { ok: ended.signedIn, wrote: ended.wrote };
    },
  );

/** Today's parameters, while the password is at hand. */
async function rehash(
  { userDirectory, streams }: Pick<Dependencies, 'streams' | 'userDirectory'>,
  verified: ExistingUser,
  phc: string,
  command: Command,
): Promise<void> {
  const of = { tenantId: command.metadata.tenantId, userId: verified.id };
  const hash = await userDirectory.seal(of, 'password_hash', phc);
  if (hash === 'erased') return;
  const own = { ...command, id: uuidFrom(command.id, 'rehash') };
  await streams.decideOn(users, verified.id, own, (user) =>
    rehashPassword({ verified, hash }, user),
  );
}
