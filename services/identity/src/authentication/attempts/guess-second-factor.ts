/**
 * Limits guesses at a second factor, that is, codes of an app and recovery codes. An attempt is counted across all
 * networks before it is verified, and the count is returned if it was right. Too many failures block the account's
 * codes, each time for longer. A passkey or an administrator ends the block.
 */
import type { Command } from '@cardea/event-store';
import { networkOf } from '@cardea/http';
import { uuidFrom } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import type { ExistingUser } from '../../accounts/accounts.module.ts';
import { tooManyAttempts, tooOften } from '../../http/answers.ts';
import { LIMITS } from '../../http/limits.ts';
import { accountLevelOf, clearingsOf, secondFactorBlockOf, signins } from '../../streams/signin.ts';
import type { SecondFactor } from './attempt.ts';
import { recordSecondFactorMiss } from './lockout.ts';
import { failuresByAccount } from './verify-password.ts';

type Guess = {
  readonly user: Pick<ExistingUser, 'id' | 'emailHash'>;
  readonly method: SecondFactor;
  readonly ip: string;
};

export type GuessSecondFactor = <Tried extends { readonly isWrong: boolean }>(
  guess: Guess,
  tried: () => Promise<Tried>,
  command: Command,
) => Promise<Tried | ReturnType<typeof tooOften> | ReturnType<typeof tooManyAttempts>>;

export const guessSecondFactor =
  ({
    limits,
    sealer,
    streams,
  }: Pick<ServiceDependencies, 'limits' | 'sealer' | 'streams'>): GuessSecondFactor =>
  async ({ user, method, ip }, tried, command) => {
    const byIp = [LIMITS.codeFailuresByIp, ip] as const;
    const isRight = (answer: { readonly isWrong: boolean }) => !answer.isWrong;
    if (method === 'passkey') {
      const made = await limits.attempt([byIp], tried, isRight);
      return made.allowed ? made.answer : tooOften(made);
    }
    const { now, metadata } = command;
    const { tenantId } = metadata;
    const { id: userId, emailHash } = user;
    const { state } = await streams.load(signins, { tenantId, id: emailHash });
    const until = secondFactorBlockOf(state, now);
    if (until !== undefined) {
      const leftMs = until.getTime() - now.getTime();
      return tooManyAttempts({ retryAfterSeconds: Math.max(1, Math.ceil(leftMs / 1000)) });
    }
    const level = accountLevelOf(state, 'second', now);
    const limit = failuresByAccount('second_factor', level);
    const key = `${tenantId}:${userId}:${level}:${clearingsOf(state)}`;
    const recorded = async () => {
      const answer = await tried();
      if (!answer.isWrong) return answer;
      const prefix = await sealer.indexHash({ tenantId }, 'network', networkOf(ip));
      const miss = { userId, method, prefix, now };
      await streams.decideOn(signins, emailHash, missOf(command), (signin) =>
        recordSecondFactorMiss(miss, signin),
      );
      return answer;
    };
    const made = await limits.attempt([byIp, [limit, key]], recorded, isRight);
    if (made.allowed) return made.answer;
    return made.limit === limit && made.isUsedUp ? tooManyAttempts(made) : tooOften(made);
  };

const missOf = (command: Command): Command => ({
  ...command,
  id: uuidFrom(command.id, 'second factor missed'),
});
