/** Computes what an agent may reach now: its own grants, limited by what its user lets it do. */

import { isBeforeReclaim, type User } from '../../accounts/accounts.module.ts';
import type { Agent } from '../agents/agent.ts';
import {
  ANY_FIELD,
  coveredBy,
  grantsAt,
  missingFrom,
  normalised,
  type ServiceGrant,
} from '../agents/service-grant.ts';
import { type Delegation, isLive } from '../delegations/delegation.ts';

export type RevocationCause = {
  readonly agent: Agent;
  /** Undefined if the agent acts for itself. */
  readonly user:
    | {
        readonly account: User;
        readonly delegation: Delegation;
        /** False if the session was started with the user's own token, so it needs no delegation. */
        readonly needsDelegation: boolean;
      }
    | undefined;
  /**
   * The time when the user's own token was used. A delegation that was withdrawn after that time ends the authority.
   */
  readonly since: Date;
  readonly now: Date;
};

export type Authority =
  | { readonly refused: 'invalid_agent_key' | 'user_inactive' | 'delegation_required' }
  | {
      readonly granted: (wanted: readonly ServiceGrant[]) => Reach;
      /**
       * Returns each of the services with all fields that may be reached. A session names its fields, so a service is
       * missing if its fields are granted only by `*` and never by name.
       */
      readonly grantedWhole: (services: readonly string[]) => Reach;
    };
export type Reach = {
  readonly covered: readonly ServiceGrant[];
  readonly missing: readonly ServiceGrant[];
};

export function authorityOf({ agent, user, since, now }: RevocationCause): Authority {
  if (agent.status !== 'active') return { refused: 'invalid_agent_key' };
  const own = grantsAt(agent.agent.services, now);
  if (user === undefined) return authorityWithin([own]);
  if (user.account.status !== 'active') return { refused: 'user_inactive' };
  const { account, delegation } = user;
  if (isLive(delegation, now) && !isBeforeReclaim(account, delegation.created_at))
    return authorityWithin([own, delegation.services]);
  const withdrawn = delegation.status === 'withdrawn' && new Date(delegation.withdrawnAt) >= since;
  if (user.needsDelegation || withdrawn) return { refused: 'delegation_required' };
  return authorityWithin([own]);
}

type Limits = readonly (readonly ServiceGrant[])[];

const authorityWithin = (limits: Limits): Authority => ({
  granted: reachWithin(limits),
  grantedWhole: wholeWithin(limits),
});

const reachWithin =
  (limits: Limits) =>
  (wanted: readonly ServiceGrant[]): Reach => {
    const covered = limits.reduce((left, limit) => coveredBy(limit, left), wanted);
    return { covered, missing: missingFrom(covered, wanted) };
  };

const wholeWithin =
  (limits: Limits) =>
  (services: readonly string[]): Reach => {
    const named = services
      .flatMap((name) => limits.flat().filter(({ service_name }) => service_name === name))
      .map((grant) => ({ ...grant, fields: grant.fields.filter((field) => field !== ANY_FIELD) }));
    const { covered } = reachWithin(limits)(normalised(named));
    const reached = covered.map(({ service_name }) => service_name);
    const missing = services
      .filter((name) => !reached.includes(name))
      .map((service_name) => ({ service_name, fields: [ANY_FIELD] }));
    return { covered, missing };
  };
