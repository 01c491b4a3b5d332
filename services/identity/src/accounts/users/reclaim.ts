/**
 * An address may have been registered by a person who does not own it. When its owner proves it and takes the account,
 * the earlier password, second factors, linked accounts and sessions end. So does everything that was created or
 * granted with the account (`take-back-reclaimed` of agents, credentials and consents).
 */
import { factorRemoved } from './second-factors.ts';
import type { ExistingUser, UserEvent } from './user.ts';

export type Reclaim = {
  /** How many sessions the user has, according to the table. */
  readonly count: number;
  /** Unix seconds: access tokens issued before are refused. */
  readonly tokensBefore: number;
};

export type AccountReclaimed = Extract<UserEvent, { type: 'AccountReclaimed' }>;

export function reclaimed(
  user: ExistingUser,
  { count, tokensBefore }: Reclaim,
  now: Date,
): readonly UserEvent[] {
  const { id, epoch, secondFactors, identities } = user;
  const { factors } = secondFactors;
  const removed = factors.map((factor, index) =>
    factorRemoved(id, factor, { isLast: index === factors.length - 1, now }),
  );
  const unlinked = identities.map(({ provider, hash }, index): UserEvent => {
    const providers = identities.slice(index + 1).map((later) => later.provider);
    return {
      type: 'IdentityUnlinked',
      data: { id, provider, hash, providers, at: now.toISOString() },
    };
  });
  const data = {
    id,
    epoch: epoch + 1,
    count,
    at: now.toISOString(),
    tokens_before: Math.max(tokensBefore, user.tokensBefore),
  };
  return [...removed, ...unlinked, { type: 'AccountReclaimed', data }];
}

/**
 * Whether an object was created before the account was reclaimed, so that the present owner of the account never
 * consented to it.
 */
export const isBeforeReclaim = (
  { reclaimedAt }: Pick<ExistingUser, 'reclaimedAt'>,
  madeAt: string,
): boolean => reclaimedAt !== null && new Date(madeAt) <= new Date(reclaimedAt);
