/**
 * Records that the holder of a mailed secret has proven their address. The proof is the registrant's if the request has
 * a session of the account, or if the caller has verified the account's password.
 */
import type { Authenticator } from '@cardea/auth';
import type { Command } from '@cardea/event-store';
import type { Request } from '@cardea/http';
import { uuidFrom } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import {
  type ExistingUser,
  endTokens,
  exists,
  proveAddress,
  users,
} from '../../accounts/accounts.module.ts';
import {
  countAliveSessions,
  isAlive,
  sessions,
  validityContextOf,
} from '../../sessions/sessions.module.ts';
import type { Basis } from '../../streams/basis.ts';
import { tokensBeforeAt } from '../../streams/tokens-before.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'database' | 'streams'> & {
  readonly authenticator: Pick<Authenticator, 'authenticate'>;
};

export type AddressProofs = {
  /** Returns the account after the proof, or undefined if the state that the secret depends on has ended. */
  readonly record: (
    of: {
      readonly user: ExistingUser;
      readonly basis: Basis;
      readonly request: Request<unknown, unknown, unknown>;
      readonly knowsPassword?: boolean;
    },
    command: Command,
  ) => Promise<
    | {
        readonly user: ExistingUser;
        readonly isReclaimed: boolean;
        readonly position: bigint | undefined;
      }
    | undefined
  >;
};

export const addressProofs = (needs: Dependencies): AddressProofs => ({
  record: async ({ user, basis, request, knowsPassword = false }, command) => {
    if (user.emailVerified) return { user, isReclaimed: false, position: undefined };
    const { now, metadata } = command;
    const of = { tenantId: metadata.tenantId, userId: user.id };
    const isRegistrant =
      knowsPassword || (await isOwnSession(needs, request, { ...of, user, now }));
    const count = isRegistrant ? 0 : (await countAliveSessions(needs.database, { ...of, now })).all;
    const own = { ...command, id: uuidFrom(command.id, 'prove address') };
    const decided = await needs.streams.decideOn(users, user.id, own, (state) => {
      const tokensBefore = tokensBeforeAt(needs.clock.now());
      return proveAddress({ basis, isRegistrant, count, tokensBefore, now }, state);
    });
    if (!decided.accepted || !exists(decided.state)) return undefined;
    const ended = await endTokens(needs, of, own, decided.events);
    const isReclaimed = decided.events.some(({ type }) => type === 'AccountReclaimed');
    return { user: decided.state, isReclaimed, position: ended ?? decided.position };
  },
});

/** Matches an access token. Keys of other kinds have no session. */
const BEARER = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+) *$/i;

async function isOwnSession(
  { authenticator, streams }: Dependencies,
  { headers, ip }: Request<unknown, unknown, unknown>,
  of: {
    readonly tenantId: string;
    readonly user: ExistingUser;
    readonly now: Date;
  },
): Promise<boolean> {
  const { tenantId, user, now } = of;
  const token = BEARER.exec(headers['authorization'] ?? '')?.[1];
  const caller = token === undefined ? undefined : await authenticator.authenticate(token, ip);
  if (caller?.kind !== 'user' || caller.id !== user.id || caller.tenantId !== tenantId)
    return false;
  if (caller.impersonatedBy !== null || caller.clientId !== null) return false;
  if (caller.sessionId === null) return false;
  const { state } = await streams.load(sessions, { tenantId, id: caller.sessionId });
  if (state.status === 'none' || state.user_id !== user.id) return false;
  return isAlive(state, validityContextOf(user, true), now);
}
