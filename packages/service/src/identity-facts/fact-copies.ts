/**
 * Decides whether a copy of identity's data may be used: only if it is as new as every change that the shared cache
 * reports. Otherwise identity is asked, for two seconds at most.
 */
import { CHANGES_FLOOR, changedKey } from '@cardea/auth';
import { type CurrentFacts, topicOf } from '@cardea/contracts';
import { PeerUnavailable } from '../peers/peer-unavailable.ts';
import type { Peers } from '../peers/peers.ts';
import type { ServiceDependencies } from '../service.ts';

const ASK_WAIT_MS = 2_000;

export type UserFacts = NonNullable<CurrentFacts['user']>;
/** A fact with the position of its event; 0 for rows older than that column. */
type Copy<Fact> = Fact & { readonly position: bigint };

export interface FactCopies {
  /** Asks identity. Throws PeerUnavailable. */
  ask: Peers['identity']['facts'];
  /** Resolves with true when this service has applied identity's log up to the position. */
  reaches(floor: bigint): Promise<boolean>;
  /** Returns undefined if neither the own copy, which `row` reads, nor identity knows the user. */
  user(
    of: { readonly tenantId: string; readonly userId: string },
    row: () => Promise<Copy<UserFacts> | undefined>,
  ): Promise<UserFacts | undefined>;
  /** The owner of the agent. Works like `user`. */
  owner(
    of: { readonly tenantId: string; readonly agentId: string },
    row: () => Promise<Copy<AgentOwner> | undefined>,
  ): Promise<AgentOwner | undefined>;
}
type AgentOwner = Pick<NonNullable<CurrentFacts['agent']>, 'owner_user_id'>;

/** `consumer` is the consumer of this service that maintains the copies. */
export function factCopies(
  needs: Pick<ServiceDependencies, 'bus' | 'clock' | 'peers' | 'revocations'>,
  consumer: string,
): FactCopies {
  const { bus, clock, peers, revocations } = needs;
  let reached = 0n;

  const ask: FactCopies['ask'] = async (asked) => {
    const answered = new AbortController();
    const late = clock.sleep(ASK_WAIT_MS, answered.signal).then(() => undefined);
    try {
      const word = await Promise.race([peers.identity.facts(asked), late]);
      if (word === undefined) throw new PeerUnavailable('identity does not answer in time');
      return word;
    } finally {
      answered.abort();
    }
  };
  const reaches = async (floor: bigint): Promise<boolean> => {
    if (floor > reached && (await bus.appliedThrough(consumer, topicOf('identity'))) >= floor) {
      reached = floor;
    }
    return floor <= reached;
  };
  const isCurrent = async (kind: 'user' | 'agent', id: string, position: bigint) => {
    const { values } = await revocations.look(
      [{ kind, id }],
      [CHANGES_FLOOR, changedKey(kind, id)],
    );
    if (values === undefined || position === 0n) return false;
    const [floor, changed] = values.map((value) => BigInt(value ?? 0));
    return position >= (changed ?? 0n) && reaches(floor ?? 0n);
  };
  return {
    ask,
    reaches,
    // A missing id in identity's answer proves no more than a missing row does.
    user: async ({ tenantId, userId }, row) => {
      const known = await row();
      if (await isCurrent('user', userId, known?.position ?? 0n)) return known;
      return (await ask({ tenantId, userId })).user ?? known;
    },
    owner: async ({ tenantId, agentId }, row) => {
      const known = await row();
      if (await isCurrent('agent', agentId, known?.position ?? 0n)) return known;
      return (await ask({ tenantId, agentId })).agent ?? known;
    },
  };
}
