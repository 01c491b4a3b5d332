/**
 * The facts that vault knows from identity's events: sessions of agents, what agents may reach, who is disabled or
 * vouched for. They may lag, so a missing row proves nothing, and a refusal that depends on a row alone is confirmed by
 * reading again. A row that is older than a change announced in the shared cache is not used: identity is asked
 * instead.
 */
import type { ApproverSet, CurrentFacts } from '@cardea/contracts';
import { factCopies, type ServiceDependencies, type UserFacts } from '@cardea/service';
import { epochCache } from '../epochs.ts';
import { type AppliedEvent, concernSessionsAlone } from './applied-sessions.ts';
import { agents, users } from './copies.ts';
import {
  type Facts,
  type IdentityFactsRequest,
  mayAskForAccess,
  readSessionRows,
} from './fact-rows.ts';
import { factsCache, type KnownChanges } from './facts-cache.ts';

export interface IdentityFacts {
  /**
   * Reads a cache of a few seconds; `fresh` reads the tables. Without `changes` the shared cache may have missed
   * changes, so identity is asked and nothing is cached. Throws PeerUnavailable.
   */
  read(
    asked: IdentityFactsRequest,
    changes: KnownChanges | undefined,
    fresh?: boolean,
  ): Promise<Facts>;
  /** The users who may approve. Undefined if unknown both here and at identity. Otherwise it works like `read`. */
  approver(
    of: { readonly tenantId: string; readonly userId: string },
    changes: KnownChanges | undefined,
  ): Promise<UserFacts | undefined>;
  /** The user who owns the agent; null if nobody does. */
  ownerOf(asked: IdentityFactsRequest, changes: KnownChanges | undefined): Promise<string | null>;
  /** Reads again after a pause, because the bus may lag. */
  isKnownApprover(
    tenantId: string,
    approver: string | { readonly user_id: string } | ApproverSet,
  ): Promise<boolean>;
  /** Whether the tenant allows its agents to request access. */
  mayAskForAccess(tenantId: string): Promise<boolean>;
  /** Call it when these events were applied in this process. Facts that they may have changed are dropped. */
  applied(events: readonly AppliedEvent[]): void;
}

/** Pauses, counted from the first read, before a row that may lag is read again. */
export const REREAD_AFTER_MS = [200, 600] as const;
const GONE = 'deleted';
const CONSUMER = 'vault';

type Dependencies = Pick<
  ServiceDependencies,
  'database' | 'clock' | 'bus' | 'peers' | 'revocations'
>;

export function identityFacts(needs: Dependencies): IdentityFacts {
  const { database, clock } = needs;
  const cache = factsCache(clock);
  const approvers = epochCache<UserFacts>(clock);
  const copies = factCopies(needs, CONSUMER);

  const load = async (
    asked: IdentityFactsRequest,
    changes: KnownChanges | undefined,
  ): Promise<Facts> => {
    const rows = await readSessionRows(database, asked);
    const isCurrent =
      changes !== undefined &&
      rows.agentPosition >= changes.agent &&
      rows.sessionPosition >= changes.session &&
      (await copies.reaches(changes.floor));
    if (!isCurrent) {
      const { tenantId, agentId, sessionId, userId } = asked;
      const user = userId === null ? {} : { userId };
      return withWord(rows.facts, await copies.ask({ tenantId, agentId, sessionId, ...user }));
    }
    // A row that includes the announced change is also newer than the token.
    const { agent } = rows.facts;
    if (agent === undefined || changes.agent === 0n) return rows.facts;
    return { ...rows.facts, agent: { ...agent, changed_at: 'now' } };
  };
  const read: IdentityFacts['read'] = async (asked, changes, fresh = false) => {
    if (changes === undefined) return load(asked, undefined);
    const found = fresh ? undefined : cache.find(asked, changes);
    return found ?? cache.loaded(asked, changes, () => load(asked, changes));
  };
  return {
    read,
    approver: async ({ tenantId, userId }, changes) => {
      const key = `${tenantId} ${userId}`;
      const tag = changes && `${changes.epoch} ${changes.floor}`;
      const cached = approvers.get(key, tag);
      if (cached !== undefined) return cached;
      const row = () => users.find(database, tenantId, userId);
      const user = await copies.user({ tenantId, userId }, row);
      // A new vouch replaces no epoch, so only users who may approve are cached.
      if (user?.vouched === true && !isDisabled(user.status)) approvers.put(key, tag, user);
      return user;
    },
    ownerOf: async (asked, changes) => {
      const facts = changes === undefined ? undefined : await read(asked, changes);
      const known = facts?.agent?.owner_user_id;
      if (known !== undefined) return known;
      const { tenantId, agentId } = asked;
      const row = () => agents.find(database, tenantId, agentId);
      return (await copies.owner({ tenantId, agentId }, row))?.owner_user_id ?? null;
    },
    isKnownApprover: async (tenantId, approver) => {
      if (typeof approver === 'string' || !('user_id' in approver)) return true;
      for (const pauseMs of [0, ...REREAD_AFTER_MS]) {
        await clock.sleep(pauseMs);
        const row = await users.find(database, tenantId, approver.user_id);
        if (row !== undefined && row.status !== GONE) return true;
      }
      return false;
    },
    mayAskForAccess: (tenantId) => mayAskForAccess(database, tenantId),
    applied: (events) => {
      cache.applied(events);
      if (!concernSessionsAlone(events)) approvers.clear();
    },
  };
}

/**
 * Identity's answer replaces the rows. If identity has no answer for a fact, that proves no more than a missing row.
 */
const withWord = (rows: Facts, { agent, session, user }: CurrentFacts): Facts => ({
  session:
    session === null
      ? rows.session
      : {
          ...session,
          expires_at: new Date(session.expires_at),
          ended_at: session.ended_at === null ? null : new Date(session.ended_at),
        },
  tokenEpoch: session?.epoch ?? rows.tokenEpoch,
  agent: agent === null ? rows.agent : { ...agent, changed_at: 'now' },
  userStatus: user?.status ?? rows.userStatus,
});

/** Whether the user is disabled. A locked user cannot sign in, but their running sessions do not end. */
export const isDisabled = (status: string | undefined): boolean =>
  status === 'disabled' || status === GONE;
