/**
 * One decision and one append on a user's account. If it removes an administrator, the tenant's list is
 * updated first; if it removes a role, tokens that contain the role are revoked before the answer.
 */
import {
  accept,
  type Command,
  type Decided,
  type Decision,
  WriteContention,
} from '@cardea/event-store';
import { uuidFrom } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import type { Administrators } from '../../administrators/administrators.ts';
import { isActiveAdmin } from '../ranks.ts';
import { exists, type User, type UserEvent, users } from '../user.ts';
import type { AdministerRefusal } from './administer.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'streams'> & {
  readonly administrators: Pick<Administrators, 'leave' | 'settle'>;
};

/**
 * How far in the future tokens are revoked; an append that takes longer is followed by a second revocation.
 */
const APPEND_WITHIN_S = 2;
const FOLLOW_UPS_MAX = 3;
const MS = 1_000;

type Of = { readonly tenantId: string; readonly userId: string };
type Refusal = Exclude<AdministerRefusal, 'leaves'> | 'last_admin';
type OnUser = Decided<User, UserEvent, AdministerRefusal>;

export type OnAccount = {
  /** Whether an administrator may be removed. */
  readonly mayLeave: boolean;
  readonly tokensBefore: number;
};

export type Administered =
  | { readonly done: true; readonly state: User; readonly position: bigint | undefined }
  | { readonly done: false; readonly reason: Refusal };

export async function decideOnUser(
  needs: Dependencies,
  of: Of,
  command: Command,
  decide: (on: OnAccount, user: User) => Decision<UserEvent, AdministerRefusal>,
): Promise<Administered> {
  const { streams, administrators, clock } = needs;
  const on = (mayLeave: boolean, stillMarked: () => void): Promise<OnUser> =>
    streams.decideOn(users, of.userId, command, (user) => {
      stillMarked();
      return decide({ mayLeave, tokensBefore: tokensBeforeAt(clock.now()) }, user);
    });
  const first = await on(false, () => {});
  const decided =
    first.accepted || first.reason !== 'leaves'
      ? first
      : await administrators.leave(of, command, (stillMarked) => on(true, stillMarked));
  if (decided === 'last_admin') return { done: false, reason: decided };
  if (!decided.accepted) {
    if (decided.reason === 'leaves') throw new Error('who was marked as leaving may leave');
    return { done: false, reason: decided.reason };
  }
  const gains = decided.events.some(
    ({ type }) => type === 'RolesChanged' || type === 'UserEnabled',
  );
  if (gains && isActiveAdmin(decided.state)) await administrators.settle(of, command);
  const ended = await endTokens(needs, of, command, decided.events);
  return { done: true, state: decided.state, position: ended ?? decided.position };
}

/**
 * A process that read the account before the append was durable may issue a token dated at that read. So
 * the time of revocation must be later than the append; returns the position of the last event that says
 * so.
 */
export async function endTokens(
  { streams, clock }: Pick<Dependencies, 'clock' | 'streams'>,
  { userId }: Of,
  command: Command,
  events: readonly UserEvent[],
): Promise<bigint | undefined> {
  let before = tokensBeforeIn(events);
  if (before === undefined) return undefined;
  let position: bigint | undefined;
  for (let round = 1; secondsOf(clock.now()) >= before; round += 1) {
    if (round > FOLLOW_UPS_MAX) throw new WriteContention('appends take longer than tokens wait');
    const tokensBefore = tokensBeforeAt(clock.now());
    const own = { ...command, id: uuidFrom(command.id, 'end tokens', String(round)) };
    const decided = await streams.decideOn(users, userId, own, (user) =>
      endLaterTokens(tokensBefore, command.now, user),
    );
    before = tokensBeforeIn(decided.events) ?? before;
    position = decided.position ?? position;
  }
  return position;
}

function endLaterTokens(tokensBefore: number, now: Date, user: User): Decision<UserEvent, never> {
  if (!exists(user)) return accept();
  const { id, roles } = user;
  const tokens_before = Math.max(tokensBefore, user.tokensBefore);
  return accept({
    type: 'RolesChanged',
    data: { id, roles, tokens_before, at: now.toISOString() },
  });
}

const tokensBeforeIn = (events: readonly UserEvent[]): number | undefined =>
  events
    .flatMap(({ type, data }) =>
      type === 'RolesChanged' || type === 'AccountReclaimed' ? (data.tokens_before ?? []) : [],
    )
    .at(-1);

/** Of tokens that end with what is decided now; {@link endTokens} makes up for a slow append. */
export const tokensBeforeAt = (now: Date): number => secondsOf(now) + APPEND_WITHIN_S;

const secondsOf = (moment: Date): number => Math.floor(moment.getTime() / MS);
