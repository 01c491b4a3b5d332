/**
 * Wraps the streams so that decisions revoke. The entries that the rules derive from the events are in the shared cache
 * before the deciding code continues, so no route, policy or loop can forget it. While an earlier change of this
 * process may be unknown to others, nothing is decided. Otherwise a repeated request would be answered as done although
 * its first attempt is not in force.
 */
import type { Revocations } from '@cardea/auth';
import type { Command, DomainEvent, Streams } from '@cardea/event-store';
import type { ServiceDependencies } from '@cardea/service';
import { users } from '../accounts/accounts.module.ts';
import {
  agentKeys,
  agentSessionsEndedByUser,
  agentSessionsOfLogin,
  openSessions,
} from '../agents/agents.module.ts';
import { apiKeys, stampsEndedBy } from '../credentials/credentials.module.ts';
import { endedLogins } from '../sessions/sessions.module.ts';
import { madeByUser } from './made-by-user.ts';
import { REVOCATION_RULES, type Revocation, revocationsOf } from './revocation-rules.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'database' | 'positions' | 'streams'> & {
  readonly revocations: Pick<Revocations, 'add' | 'remove' | 'changed' | 'settled'>;
};
type At = { readonly tenantId: string; readonly position: bigint };

/** How long to wait until the tables contain everything that began before the event. */
const TABLE_WAIT_MS = 2_000;
const MADE_TABLES = ['api_keys', 'agent_keys', 'agents', 'consents'];

export function streamsWithRevocations(needs: Dependencies): Streams {
  const { revocations, streams } = needs;
  return {
    ...streams,
    decideOn: async (stream, id, command, rule) => {
      await revocations.settled();
      const decided = await streams.decideOn(stream, id, command, rule);
      await revoke(needs, [{ decided, command }]);
      return decided;
    },
    decideOnBasis: async (stream, id, command, rule) => {
      await revocations.settled();
      const decided = await streams.decideOnBasis(stream, id, command, rule);
      await revoke(needs, [{ decided, command }]);
      return decided;
    },
    decideOnMany: async (stream, commands) => {
      await revocations.settled();
      const all = await streams.decideOnMany(stream, commands);
      const each = all.map((decided, at) => ({ decided, command: commands[at]?.command }));
      await revoke(needs, each);
      return all;
    },
  };
}

type Outcome = {
  readonly decided: {
    readonly events: readonly DomainEvent[];
    readonly position: bigint | undefined;
  };
  readonly command: Command | undefined;
};

/**
 * All entries of one list are written in one call. Entries that have to be looked up follow, one decision after
 * another.
 */
async function revoke(needs: Dependencies, outcomes: readonly Outcome[]): Promise<void> {
  const due: { readonly one: Revocation; readonly at: At }[] = [];
  for (const { decided, command } of outcomes) {
    const { events, position } = decided;
    if (position === undefined || command === undefined || !mayRevoke(events)) continue;
    const { tenantId } = command.metadata;
    for (const one of revocationsOf(events)) due.push({ one, at: { tenantId, position } });
  }
  if (due.length === 0) return;
  const entries = due.flatMap(({ one }) => ('list' in one ? [one] : []));
  const byList = Object.values(
    Object.groupBy(entries, ({ list, before }) => `${list} ${before ?? ''}`),
  );
  await Promise.all(
    byList.map(async (same = []) => {
      const [first] = same;
      const ids = same.map(({ id }) => id);
      if (first !== undefined) await needs.revocations.add(first.list, ids, first.before);
    }),
  );
  for (const { one, at } of due) if (!('list' in one)) await carryOut(needs, one, at);
}

/** Most decisions make no event that the rules name. */
function mayRevoke(events: readonly DomainEvent[]): boolean {
  for (const { type } of events) if (Object.hasOwn(REVOCATION_RULES, type)) return true;
  return false;
}

type LookedUp = Exclude<Revocation, { readonly list: unknown }>;

async function carryOut(needs: Dependencies, one: LookedUp, at: At): Promise<void> {
  const { revocations } = needs;
  const { tenantId, position } = at;
  if ('lift' in one) return revocations.remove(one.lift, [one.id]);
  if ('changed' in one) {
    const { changed: kind, id, narrows } = one;
    return revocations.changed({ tenantId, kind, id, position, narrows });
  }
  if ('stampsOf' in one) return revocations.add('key', await endedStamps(needs, one, tenantId));
  if ('madeBy' in one) return takeBack(needs, one, at);
  const ids = await endedSessions(needs, one, at);
  return revocations.add('loginsOf' in one ? 'sid' : 'asid', ids);
}

async function endedStamps(
  { streams }: Dependencies,
  { stampsOf: id, kind }: Extract<Revocation, { stampsOf: string }>,
  tenantId: string,
): Promise<readonly string[]> {
  const { state } =
    kind === 'api_key'
      ? await streams.load(apiKeys, { tenantId, id })
      : await streams.load(agentKeys, { tenantId, id });
  return state.status === 'none' ? [] : stampsEndedBy(id, state.secret);
}

async function takeBack(
  { database, positions, revocations }: Dependencies,
  { madeBy: userId, until }: Extract<Revocation, { madeBy: string }>,
  { tenantId, position }: At,
): Promise<void> {
  await positions.reached(MADE_TABLES, position, TABLE_WAIT_MS);
  const made = await madeByUser(database, { tenantId, userId, until });
  for (const [kind, ones = []] of Object.entries(Object.groupBy(made, (one) => one.kind))) {
    await revocations.add(
      kind as (typeof made)[number]['kind'],
      ones.map(({ id }) => id),
    );
  }
}

type OfSessions = Exclude<
  LookedUp,
  { lift: unknown } | { changed: unknown } | { stampsOf: unknown } | { madeBy: unknown }
>;

async function endedSessions(
  { clock, database, positions, streams }: Dependencies,
  one: OfSessions,
  { tenantId, position }: At,
): Promise<readonly string[]> {
  const table = 'loginsOf' in one ? 'sessions' : 'agent_sessions';
  await positions.reached([table], position, TABLE_WAIT_MS);
  if ('loginsOf' in one) {
    const { loginsOf: userId, epoch, keep } = one;
    return endedLogins(database, { tenantId, userId, epoch, keep, now: clock.now() });
  }
  if ('agentSessionsBy' in one) {
    return agentSessionsOfLogin(database, { tenantId, sid: one.agentSessionsBy });
  }
  if ('agentSessionsOf' in one) {
    const of = { tenantId, id: one.agentSessionsOf };
    return agentSessionsEndedByUser(database, of, (await streams.load(users, of)).state);
  }
  return openSessions(database, { tenantId, ...one.agentSessionsOfDelegation });
}
