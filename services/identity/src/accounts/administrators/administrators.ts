/** Removes the role of an administrator only if another administrator remains. */
import { type Command, type EventStore, type Streams, WriteContention } from '@cardea/event-store';
import type { Database, Positions } from '@cardea/read-models';
import { type Clock, type Ids, uuidFrom } from '@cardea/runtime';
import type { UserDirectory } from '../user-directory.ts';
import { isActiveAdmin } from '../users/ranks.ts';
import {
  administratorLists,
  build,
  LEAVING_MS,
  recordDeparture,
  remaining,
  settle,
} from './administrator-list.ts';

/**
 * The time after the mark in which the command may remove the role. The remaining half allows for clock differences.
 */
const TAKE_WITHIN_MS = LEAVING_MS / 2;
const CATCH_UP_MS = 2_000;
/** How often a membership is settled again after it changed during the settling. */
const SETTLE_ROUNDS_MAX = 5;

type Of = { readonly tenantId: string; readonly userId: string };

export type Administrators = {
  /**
   * Removes the role while the user is marked as leaving. `take` calls its argument at each of its decisions, because
   * an expired mark protects nobody.
   */
  readonly leave: <Taken extends { readonly accepted: boolean }>(
    of: Of,
    command: Command,
    take: (stillMarked: () => void) => Promise<Taken>,
  ) => Promise<Taken | 'last_admin'>;
  /** Makes the list agree with the user's own stream; does nothing if the list was never built. */
  readonly settle: (of: Of, command: Command) => Promise<void>;
};

type Dependencies = {
  readonly streams: Streams;
  readonly store: Pick<EventStore, 'head'>;
  readonly database: Database;
  readonly positions: Positions;
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
  readonly clock: Clock;
  readonly ids: Ids;
};

export function administrators(needs: Dependencies): Administrators {
  const { streams, userDirectory, clock, ids } = needs;
  const isAdmin = async ({ tenantId, userId }: Of) =>
    isActiveAdmin(await userDirectory.byId(tenantId, userId));
  const fresh = (command: Command): Command => ({ ...command, id: ids.next() });

  const settleOne = async (of: Of, command: Command, commandId: string | null): Promise<void> => {
    for (let round = 0; round < SETTLE_ROUNDS_MAX; round += 1) {
      const is = await isAdmin(of);
      const change = { userId: of.userId, isAdmin: is, commandId, now: clock.now() };
      await streams.decideOn(administratorLists, of.tenantId, fresh(command), (list) =>
        settle(change, list),
      );
      // A concurrent change found nothing to do and relies on this check.
      if ((await isAdmin(of)) === is) return;
    }
    throw new WriteContention('somebody gains and loses the role all the time');
  };

  const mark = async ({ tenantId, userId }: Of, command: Command): Promise<boolean> => {
    const leaving = { userId, commandId: command.id, now: clock.now() };
    const own = { ...command, id: uuidFrom(command.id, 'leaving') };
    const decide = () =>
      streams.decideOn(administratorLists, tenantId, own, (list) => recordDeparture(leaving, list));
    let decided = await decide();
    if (!decided.accepted && decided.reason === 'not_built') {
      await buildList(needs, tenantId, fresh(command));
      decided = await decide();
    }
    if (!decided.accepted) return false;
    // The list may name a user who has lost the role according to their own stream.
    for (const other of remaining(decided.state, userId, leaving.now)) {
      if (await isAdmin({ tenantId, userId: other })) return true;
    }
    return false;
  };

  return {
    settle: (of, command) => settleOne(of, command, null),
    leave: async (of, command, take) => {
      const markedMs = clock.monotonicMs();
      try {
        if (!(await mark(of, command))) return 'last_admin';
        return await take(() => {
          if (clock.monotonicMs() - markedMs < TAKE_WITHIN_MS) return;
          throw new WriteContention('the mark of somebody who leaves may have lapsed');
        });
      } finally {
        await settleOne(of, command, command.id);
      }
    },
  };
}

/** The table only supplies candidates. Each one's own stream tells whether they are an administrator. */
async function buildList(needs: Dependencies, tenantId: string, command: Command): Promise<void> {
  const { database, positions, store, streams, userDirectory } = needs;
  const head = await store.head('identity');
  if (!(await positions.reached(['users'], head, CATCH_UP_MS))) {
    throw new WriteContention('the table of users is late, so somebody may be missed');
  }
  const { rows } = await database.tenant(tenantId).query<{ id: string }>(
    `SELECT id FROM identity.users
       WHERE tenant_id = $1 AND roles && ARRAY['admin', 'owner', 'system_admin']`,
    [tenantId],
  );
  const found: string[] = [];
  for (const { id } of rows)
    if (isActiveAdmin(await userDirectory.byId(tenantId, id))) found.push(id);
  await streams.decideOn(administratorLists, tenantId, command, (list) => build(found, list));
}
