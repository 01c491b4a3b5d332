/** A sign-in by e-mail address and password, up to the session that it ends in. */
import type { Sealed } from '@cardea/crypto';
import { accept, type Command, type Decision } from '@cardea/event-store';
import type { Request } from '@cardea/http';
import { uuidFrom } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import {
  type ExistingUser,
  emailAddress,
  exists,
  type ToAscii,
  type User,
  type UserDirectory,
  type UserEvent,
  users,
} from '../../../accounts/accounts.module.ts';
import { signins } from '../../../streams/signin.ts';
import type { TenantFacts, Workspaces } from '../../../workspaces/workspaces.module.ts';
import { type Attempt, begin, type Refused } from '../../attempts/attempt.ts';
import { countSignIn, wrongCredential } from '../../attempts/end-attempt.ts';
import type { VerifyPassword } from '../../attempts/verify-password.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'command' | 'streams'> & {
  readonly userDirectory: Pick<UserDirectory, 'byHash' | 'hashOf' | 'seal'>;
  readonly workspaces: Pick<Workspaces, 'tenant' | 'wasActive'>;
  readonly verifyPassword: VerifyPassword;
  readonly toAscii: ToAscii;
};

export type PasswordAttempt = (
  /** The tenant of the request is the tenant to sign in to. */
  request: Request<unknown, unknown, unknown>,
  shown: { readonly email: string; readonly password: string },
) => Promise<
  | { readonly refused: 'invalid_email' | 'tenant_not_found' }
  | {
      readonly attempt: Attempt<'password'>;
      readonly tenant: TenantFacts;
      readonly readAt: Date;
      readonly command: Command;
    }
>;

export const passwordAttempt =
  (needs: Dependencies): PasswordAttempt =>
  async (request, { email: text, password }) => {
    const email = emailAddress(text, needs.toAscii);
    if (email === undefined) return { refused: 'invalid_email' };
    const { tenantId, ip } = request;
    const isKnown =
      needs.workspaces.wasActive(tenantId) ||
      (await needs.workspaces.tenant(tenantId)) !== undefined;
    // A tenant that does not exist is refused first, because hashing the address would create a key for it.
    if (!isKnown) return { refused: 'tenant_not_found' };
    const emailHash = await needs.userDirectory.hashOf(tenantId, email);
    const readAt = needs.clock.now();
    // The three reads run concurrently, in one round trip to the store.
    const [tenant, user, signin] = await Promise.all([
      needs.workspaces.tenant(tenantId),
      needs.userDirectory.byHash(tenantId, emailHash),
      needs.streams.load(signins, { tenantId, id: emailHash }),
    ]);
    if (tenant === undefined) return { refused: 'tenant_not_found' };
    const command = await needs.command(request, {
      tenantId: tenant.id,
      ...(exists(user) ? { actor: { type: 'user', id: user.id } as const } : {}),
    });
    const begun = begin({ via: 'login', first: 'password', user, settings: tenant.settings });
    const shown = { emailHash, password, method: 'password', ip, signin: signin.state };
    const { attempt, rehashed } = await needs.verifyPassword(begun, shown, command);
    countSignIn(attempt);
    if (attempt.status !== 'refused' && rehashed !== undefined) {
      await rehash(needs, attempt.user, rehashed, command);
    }
    return { attempt, tenant, readAt, command };
  };

/** The response to a refused login. Objections to the account are revealed only after a right credential. */
export function refusalOfLogin(refused: Refused) {
  if (refused.reason === 'email_not_verified') return { refused: refused.reason } as const;
  if (refused.reason === 'login_disabled') return { refused: 'password_login_disabled' } as const;
  return wrongCredential(refused);
}

export type Rehash = {
  /** The user as of the verification of the password. */
  readonly verified: ExistingUser;
  /** The same password with today's parameters. */
  readonly hash: Sealed;
};

/** A password that was set since the verification is a different one and is kept. */
export function rehashPassword({ verified, hash }: Rehash, user: User): Decision<UserEvent, never> {
  if (!exists(user) || user.passwordHash?.box !== verified.passwordHash?.box) return accept();
  return accept({ type: 'PasswordRehashed', data: { id: user.id, hash } });
}

/** Hashes the password with today's parameters while it is in memory. */
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
