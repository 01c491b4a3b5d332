/**
 * One decision and one append on a user's account. If it removes an administrator, the tenant's list is updated first.
 * If it removes a role, tokens with that role are revoked before the response.
 */
import { accept, type Command, type Decided, type Decision } from '@cardea/event-store';
import { uuidFrom } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import { endLaterTokens, tokensBeforeAt } from '../../../streams/tokens-before.ts';
import type { Administrators } from '../../administrators/administrators.ts';
import { holdingEmail } from '../../emails.ts';
import { isActiveAdmin } from '../ranks.ts';
import { exists, type User, type UserEvent, users } from '../user.ts';
import type { AdministerRefusal } from './administer.ts';

export type DecideDependencies = Pick<ServiceDependencies, 'clock' | 'streams'> & {
  readonly administrators: Pick<Administrators, 'leave' | 'settle'>;
};

type Of = {
  readonly tenantId: string;
  readonly userId: string;
  /**
   * The hash of an address that must be reserved for the account. Otherwise the decision is refused as `address_lost`.
   */
  readonly holding?: string | undefined;
};

export type OnAccount = {
  /** Whether an administrator may be removed. */
  readonly mayLeave: boolean;
  readonly tokensBefore: number;
};

export type Administered<Reason extends AdministerRefusal> =
  | { readonly done: true; readonly state: User; readonly position: bigint | undefined }
  | { readonly done: false; readonly reason: Exclude<Reason, 'leaves'> | 'last_admin' };

export async function decideOnUser<Reason extends AdministerRefusal>(
  needs: DecideDependencies,
  of: Of,
  command: Command,
  decide: (on: OnAccount, user: User) => Decision<UserEvent, Reason>,
): Promise<Administered<Reason>> {
  const { streams, administrators, clock } = needs;
  const on = (
    mayLeave: boolean,
    stillMarked: () => void,
  ): Promise<Decided<User, UserEvent, Reason>> => {
    const { holding: emailHash } = of;
    const rule = (user: User) => {
      stillMarked();
      return decide({ mayLeave, tokensBefore: tokensBeforeAt(clock.now()) }, user);
    };
    return emailHash === undefined
      ? streams.decideOn(users, of.userId, command, rule)
      : holdingEmail<Reason>(streams, { ...of, emailHash }, command, rule);
  };
  const first = await on(false, () => {});
  const decided =
    first.accepted || first.reason !== 'leaves'
      ? first
      : await administrators.leave(of, command, (stillMarked) => on(true, stillMarked));
  if (decided === 'last_admin') return { done: false, reason: decided };
  if (!decided.accepted) {
    if (decided.reason === 'leaves') throw new Error('who was marked as leaving may leave');
    return { done: false, reason: decided.reason as Exclude<Reason, 'leaves'> };
  }
  const gains = decided.events.some(
    ({ type }) => type === 'RolesChanged' || type === 'UserEnabled',
  );
  if (gains && isActiveAdmin(decided.state)) await administrators.settle(of, command);
  const ended = await endTokens(needs, of, command, decided.events);
  return { done: true, state: decided.state, position: ended ?? decided.position };
}

/**
 * Revokes tokens again until the time of the revocation is after the append. Returns the position of its last event.
 */
export async function endTokens(
  { streams, clock }: Pick<DecideDependencies, 'clock' | 'streams'>,
  { userId }: Of,
  command: Command,
  events: readonly UserEvent[],
): Promise<bigint | undefined> {
  const before = tokensBeforeIn(events);
  if (before === undefined) return undefined;
  return endLaterTokens(clock, before, async (tokensBefore, round) => {
    const own = { ...command, id: uuidFrom(command.id, 'end tokens', String(round)) };
    const decided = await streams.decideOn(users, userId, own, (user) =>
      endTokensOf(tokensBefore, command.now, user),
    );
    return { tokensBefore: tokensBeforeIn(decided.events), position: decided.position };
  });
}

function endTokensOf(tokensBefore: number, now: Date, user: User): Decision<UserEvent, never> {
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
