/**
 * External accounts by which users sign in. Each belongs to one user of a tenant. A reservation under a keyed hash of
 * the account ensures that; the user's stream tells whether it is linked.
 */
import type { Sealer } from '@cardea/crypto';
import { type Command, release, type Streams } from '@cardea/event-store';
import type { Clock } from '@cardea/runtime';
import { externalReservations, printOwner, readOwner } from '../streams/reservation.ts';
import { tokensBeforeAt } from '../streams/tokens-before.ts';
import type { SocialProvider } from '../workspaces/workspaces.module.ts';
import type { HoldName } from './hold-name.ts';
import type { UserDirectory } from './user-directory.ts';
import { endTokens } from './users/administer/decide-on-user.ts';
import type { NewIdentity } from './users/identities.ts';
import { type LinkIdentity, linkIdentity } from './users/link-identity/link-identity.ts';
import { type ExistingUser, exists, users } from './users/user.ts';

/** The provider's id of an account never changes, but its address may. */
export type ExternalAccount = { readonly provider: SocialProvider; readonly subject: string };

type Of = { readonly userId: string; readonly external: ExternalAccount };
type LinkRefusal = 'user_inactive' | 'other_identity';

export type ExternalIdentities = {
  /** Finds the user who signs in by the external account. */
  readonly find: (tenantId: string, external: ExternalAccount) => Promise<ExistingUser | undefined>;
  /** Reserves the external account for a user who is about to be created or exists. */
  readonly hold: (of: Of, command: Command) => Promise<NewIdentity | 'taken' | 'erased'>;
  readonly link: (
    of: Of & Pick<LinkIdentity, 'count'>,
    command: Command,
  ) => Promise<{ readonly user: ExistingUser } | { readonly refused: LinkRefusal }>;
  /** Releases the external account, unless the user has linked it. */
  readonly release: (
    of: { readonly tenantId: string; readonly userId: string; readonly hash: string },
    command: Command,
  ) => Promise<void>;
};

type Dependencies = {
  readonly streams: Streams;
  readonly clock: Clock;
  readonly sealer: Pick<Sealer, 'indexHash'>;
  readonly userDirectory: UserDirectory;
  readonly hold: HoldName;
};

export function externalIdentities(needs: Dependencies): ExternalIdentities {
  const { streams, sealer, userDirectory, clock } = needs;
  const hashOf = (tenantId: string, { provider, subject }: ExternalAccount) =>
    sealer.indexHash({ tenantId }, 'external', provider, subject);

  const hold: ExternalIdentities['hold'] = async ({ userId, external }, command) => {
    const { tenantId } = command.metadata;
    const hash = await hashOf(tenantId, external);
    const owner = { tenantId, userId };
    const of = { id: hash, owner, isOwnedBy: (user: ExistingUser) => isLinked(user, hash) };
    const { held } = await needs.hold(externalReservations, of, command);
    if (!held) return 'taken';
    const subject = await userDirectory.seal(owner, 'identity', external.subject);
    return subject === 'erased' ? subject : { provider: external.provider, subject, hash };
  };

  return {
    hold,
    find: async (tenantId, external) => {
      const hash = await hashOf(tenantId, external);
      const { state } = await streams.load(externalReservations, { tenantId, id: hash });
      if (state.status !== 'held') return undefined;
      const user = await userDirectory.byId(tenantId, readOwner(state.ownerId).userId);
      return exists(user) && isLinked(user, hash) ? user : undefined;
    },
    link: async ({ userId, external, ...of }, command) => {
      const identity = await hold({ userId, external }, command);
      if (identity === 'taken') return { refused: 'other_identity' };
      if (identity === 'erased') return { refused: 'user_inactive' };
      const decided = await streams.decideOn(users, userId, command, (user) =>
        linkIdentity(
          { ...of, identity, tokensBefore: tokensBeforeAt(clock.now()), now: command.now },
          user,
        ),
      );
      if (!decided.accepted) return { refused: decided.reason };
      await endTokens(
        needs,
        { tenantId: command.metadata.tenantId, userId },
        command,
        decided.events,
      );
      return exists(decided.state) ? { user: decided.state } : { refused: 'user_inactive' };
    },
    release: async ({ tenantId, userId, hash }, command) => {
      const user = await userDirectory.byId(tenantId, userId);
      if (exists(user) && isLinked(user, hash)) return;
      const value = { stream: externalReservations, hash };
      await release(streams, value, printOwner({ tenantId, userId }), command);
    },
  };
}

const isLinked = ({ identities }: ExistingUser, hash: string): boolean =>
  identities.some((identity) => identity.hash === hash);
