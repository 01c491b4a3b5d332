/** Reserves the new address of a user before the decision on the user. */
import type { Command } from '@cardea/event-store';
import type { Request } from '@cardea/http';
import { failpoint } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import { badField, tooOften } from '../../../http/answers.ts';
import { mailLimit } from '../../../mail/mail.module.ts';
import type { Accounts } from '../../accounts.ts';
import { emailAddress, type ToAscii } from '../../email-address.ts';
import type { UserDirectory } from '../../user-directory.ts';
import type { ExistingUser } from '../user.ts';
import { type Administer, administer, type NewEmail } from './administer.ts';

export type ReserveDependencies = Pick<ServiceDependencies, 'limits' | 'sealer' | 'streams'> & {
  readonly userDirectory: Pick<UserDirectory, 'hashOf' | 'seal'>;
  readonly accounts: Pick<Accounts, 'emails' | 'isPromised'>;
  readonly toAscii: ToAscii;
};

type Asked = Request<
  { readonly id: string },
  object,
  { readonly email?: string; readonly email_verified?: boolean }
>;

/** Returns no `email` if the request names none. */
export async function reserveEmail(
  needs: ReserveDependencies,
  request: Asked,
  of: {
    readonly user: ExistingUser;
    readonly change: Omit<Administer, 'mayLeave' | 'tokensBefore'>;
    readonly command: Command;
  },
) {
  const { body, tenantId, ip } = request;
  const { user, change, command } = of;
  const { email: typed, email_verified: verified = false } = body;
  if (typed === undefined) {
    const isAlone = body.email_verified !== undefined;
    return isAlone ? badField('email_verified', 'with email') : { email: undefined };
  }
  const address = emailAddress(typed, needs.toAscii);
  if (address === undefined) return { refused: 'invalid_email' } as const;
  const emailHash = await needs.userDirectory.hashOf(tenantId, address);
  const owner = { tenantId, userId: user.id };
  const sealed = await needs.userDirectory.seal(owner, 'email', address);
  if (sealed === 'erased') return { refused: 'not_found' } as const;
  const email: NewEmail = { email: sealed, hash: emailHash, verified };
  // A change that is refused anyway reserves nothing, and its refusal reveals nothing about the address.
  const first = administer({ ...change, email, mayLeave: true, tokensBefore: 0 }, user);
  if (!first.accepted && first.reason === 'forbidden') return { refused: first.reason } as const;
  if (emailHash === user.emailHash) return { email };
  const { by, now } = change;
  const isPromised = await needs.accounts.isPromised({ tenantId, emailHash, by, now });
  if (isPromised) return { refused: 'forbidden' } as const;
  const limited = verified
    ? undefined
    : await mailLimit(needs, { tenantId, emailHash, ip, by: 'administrator' });
  if (limited !== undefined) return tooOften(limited);
  const isHeld = await needs.accounts.emails.hold({ ...owner, emailHash }, command);
  if (!isHeld) return { refused: 'email_already_exists' } as const;
  await failpoint('email.after_reserve');
  return { email };
}
