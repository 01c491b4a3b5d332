/**
 * Links an account elsewhere to the user whose address it proves. Whoever registered that address here
 * without proving it may be somebody else: their password, second factors and sessions end first.
 */
import { accept, type Decision, refuse } from '@cardea/event-store';
import { identityLinked, type NewIdentity } from '../identities.ts';
import { factorRemoved } from '../second-factors.ts';
import type { ExistingUser, User, UserEvent } from '../user.ts';

export type LinkIdentity = {
  readonly identity: NewIdentity;
  /** Of the user's sessions, as the table has them. */
  readonly count: number;
  /** Unix seconds: access tokens of before are refused, where the account is taken back. */
  readonly tokensBefore: number;
  readonly now: Date;
};

export function linkIdentity(
  { identity, count, tokensBefore, now }: LinkIdentity,
  user: User,
): Decision<UserEvent, 'user_inactive' | 'other_identity'> {
  if (user.status !== 'active') return refuse('user_inactive');
  const known = user.identities.find(({ provider }) => provider === identity.provider);
  // An address may have been given to somebody else meanwhile; the account elsewhere may not.
  if (known !== undefined)
    return known.hash === identity.hash ? accept() : refuse('other_identity');
  const linked = identityLinked(user.id, identity, { before: user.identities, now });
  if (user.emailVerified) return accept<UserEvent>(linked);
  const at = now.toISOString();
  return accept<UserEvent>(
    ...factorsRemoved(user, now),
    {
      type: 'AccountReclaimed',
      data: {
        id: user.id,
        epoch: user.epoch + 1,
        tokens_before: Math.max(tokensBefore, user.tokensBefore),
        count,
        at,
      },
    },
    { type: 'EmailVerified', data: { id: user.id, at } },
    linked,
  );
}

const factorsRemoved = ({ id, secondFactors: { factors } }: ExistingUser, now: Date) =>
  factors.map((factor, index) =>
    factorRemoved(id, factor, { isLast: index === factors.length - 1, now }),
  );
