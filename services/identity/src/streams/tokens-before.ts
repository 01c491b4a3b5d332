/**
 * Revokes a user's or machine's access tokens that were issued before a time. A process that read the account before
 * the append was durable may issue a token dated at that read, so the time is later than the append.
 */
import { WriteContention } from '@cardea/event-store';
import type { Clock } from '@cardea/runtime';

/** How far in the future the revocation time is set. An append that takes longer is followed by a second revocation. */
const APPEND_WITHIN_S = 2;
const FOLLOW_UPS_MAX = 3;
const MS = 1_000;

/**
 * Unix seconds: tokens issued before this time end with the current decision. {@link endLaterTokens} handles an append
 * that took too long.
 */
export const tokensBeforeAt = (now: Date): number => secondsOf(now) + APPEND_WITHIN_S;

type FollowUp = {
  readonly tokensBefore: number | undefined;
  readonly position: bigint | undefined;
};

/** Returns the position of the last additional revocation, if there was one. */
export async function endLaterTokens(
  clock: Pick<Clock, 'now'>,
  first: number,
  followUp: (tokensBefore: number, round: number) => Promise<FollowUp>,
): Promise<bigint | undefined> {
  let before = first;
  let position: bigint | undefined;
  for (let round = 1; secondsOf(clock.now()) >= before; round += 1) {
    if (round > FOLLOW_UPS_MAX) throw new WriteContention('appends take longer than tokens wait');
    const decided = await followUp(tokensBeforeAt(clock.now()), round);
    before = decided.tokensBefore ?? before;
    position = decided.position ?? position;
  }
  return position;
}

const secondsOf = (moment: Date): number => Math.floor(moment.getTime() / MS);
