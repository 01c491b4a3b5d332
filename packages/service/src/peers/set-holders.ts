/**
 * Finds the current members of a set of approvers. It asks authz and identity each time, for two seconds at most, and
 * caches nothing, so that a person who lost the role or relation cannot decide any more.
 */
import { type ApproverSet, HOLDERS_MAX, type Person } from '@cardea/contracts';
import type { Clock } from '@cardea/runtime';
import { PeerUnavailable } from './peer-unavailable.ts';
import type { Peers } from './peers.ts';

const ANSWER_WAIT_MS = 2_000;

export type NoApprover = 'too_many' | 'nobody_holds';
/** A person's relation to a set. */
export type HolderStatus = { readonly holds: boolean; readonly isVouched: boolean };

export type SetHolders = {
  /** The active and vouched holders without the excluded one, or a reason if they cannot decide together. */
  of(question: {
    readonly tenantId: string;
    readonly set: ApproverSet;
    readonly needed: number;
    readonly excludedUserId: string | undefined;
  }): Promise<{ readonly holders: readonly string[] } | { readonly noApprover: NoApprover }>;
  /** The status of each of these persons. A person who is not active belongs to no set. */
  standing(question: {
    readonly tenantId: string;
    readonly set: ApproverSet;
    readonly userIds: readonly string[];
  }): Promise<ReadonlyMap<string, HolderStatus>>;
  /** Returns the sets to which the person belongs and for which they may decide, in the given order. */
  heldBy(question: {
    readonly tenantId: string;
    readonly userId: string;
    readonly sets: readonly ApproverSet[];
  }): Promise<readonly boolean[]>;
};

export const NOBODY: HolderStatus = { holds: false, isVouched: false };

type Dependencies = {
  readonly peers: Pick<Peers, 'authz' | 'identity'>;
  readonly clock: Pick<Clock, 'sleep'>;
};

/** All functions throw PeerUnavailable if a service does not answer in time. */
export const setHolders = ({ peers, clock }: Dependencies): SetHolders => {
  const within = <Answer>(name: string, answer: Promise<Answer>) => inTime(clock, name, answer);
  const people = async (
    tenantId: string,
    of: { userIds: readonly string[] } | { role: string },
  ) => {
    if ('userIds' in of && of.userIds.length === 0) return [];
    return (await within('identity', peers.identity.people({ tenantId, ...of }))).people;
  };
  const relationOf = (set: Exclude<ApproverSet, { readonly role: string }>) => ({
    relation: set.relation,
    object_type: set.object_type,
    object_id: set.object_id,
  });
  const holdsEach = async (
    tenantId: string,
    checks: readonly {
      readonly userId: string;
      readonly set: ApproverSet;
      person?: Person | undefined;
    }[],
  ): Promise<readonly boolean[]> => {
    const relations = checks.flatMap(({ userId, set }) =>
      'role' in set ? [] : [{ user_id: userId, ...relationOf(set) }],
    );
    const answered =
      relations.length === 0
        ? []
        : (await within('authz', peers.authz.check({ tenant_id: tenantId, checks: relations })))
            .allowed;
    const next = answered.values();
    return checks.map(({ set, person }) =>
      'role' in set ? person?.roles.includes(set.role) === true : next.next().value === true,
    );
  };
  return {
    of: async ({ tenantId, set, needed, excludedUserId }) => {
      const held = await (async () => {
        if ('role' in set) return people(tenantId, set);
        const asked = { tenant_id: tenantId, ...relationOf(set) };
        const { user_ids, wildcard } = await within('authz', peers.authz.holders(asked));
        if (wildcard || user_ids.length > HOLDERS_MAX) return undefined;
        return people(tenantId, { userIds: user_ids });
      })();
      if (held === undefined || held.length > HOLDERS_MAX) return { noApprover: 'too_many' };
      const holders = held.filter(counts).map(({ id }) => id);
      const able = holders.filter((id) => id !== excludedUserId);
      return able.length < needed ? { noApprover: 'nobody_holds' } : { holders: able };
    },
    standing: async ({ tenantId, set, userIds }) => {
      if (userIds.length === 0) return new Map();
      const found = await people(tenantId, { userIds });
      const active = found.filter(isActive);
      const checks = active.map((person) => ({ userId: person.id, set, person }));
      const holds = await holdsEach(tenantId, checks);
      return new Map(
        active.map(({ id, vouched }, at) => [
          id,
          { holds: holds[at] === true, isVouched: vouched },
        ]),
      );
    },
    heldBy: async ({ tenantId, userId, sets }) => {
      const [person] = await people(tenantId, { userIds: [userId] });
      if (person === undefined || !counts(person)) return sets.map(() => false);
      return holdsEach(
        tenantId,
        sets.map((set) => ({ userId, set, person })),
      );
    },
  };
};

/** States of accounts in which nobody can sign in. */
const INACTIVE: readonly string[] = ['disabled', 'invited', 'suspended', 'deleted'];
const isActive = ({ status }: Person): boolean => !INACTIVE.includes(status);

const counts = (person: Person): boolean => isActive(person) && person.vouched;

async function inTime<Answer>(
  clock: Pick<Clock, 'sleep'>,
  name: string,
  answer: Promise<Answer>,
): Promise<Answer> {
  const answered = new AbortController();
  const late = clock.sleep(ANSWER_WAIT_MS, answered.signal).then(() => undefined);
  try {
    const word = await Promise.race([answer, late]);
    if (word === undefined) throw new PeerUnavailable(`${name} does not answer in time`);
    return word;
  } finally {
    answered.abort();
  }
}
