/** Deputies: who decides in the place of a person who is away. */
import type { Module, ServiceDependencies } from '@cardea/service';
import type { RequestParts } from '../requests/requests.module.ts';
import { deputiesTable } from './deputies.projection.ts';
import { deputies, deputyIdOf } from './deputy.ts';
import { getDeputyRoute } from './get/get.route.ts';
import { listDeputiesRoute } from './list/list.route.ts';
import { deputiesRelay } from './relay.ts';
import { removeDeputyOfRoute, removeDeputyRoute } from './remove/remove.route.ts';
import { removeWithPerson } from './remove/remove.ts';
import { setDeputyRoute } from './set/set.route.ts';

export type { DeputyNotice } from './deputies.projection.ts';

export type DeputiesDependencies = Pick<
  ServiceDependencies,
  'streams' | 'command' | 'systemCommand' | 'database' | 'revocations' | 'clock'
> &
  Pick<RequestParts, 'identityFacts' | 'factCopies'> & {
    /** Called when there may be mails to send. */
    readonly onChanged: () => void;
  };

/** The endpoints that the page of deputies shows and calls. */
export type DeputyEndpoints = {
  readonly get: ReturnType<typeof getDeputyRoute>;
  readonly set: ReturnType<typeof setDeputyRoute>;
  readonly remove: ReturnType<typeof removeDeputyRoute>;
};

export function deputiesModule(dependencies: DeputiesDependencies): {
  readonly module: Module;
  readonly endpoints: DeputyEndpoints;
  /** Ends the deputyships of a user, both as a deputy and as the person in whose place a deputy decides. */
  readonly deleteOf: (tenantId: string, userId: string) => Promise<void>;
} {
  const endpoints: DeputyEndpoints = {
    get: getDeputyRoute(dependencies),
    set: setDeputyRoute(dependencies),
    remove: removeDeputyRoute(dependencies),
  };
  const module: Module = {
    endpoints: [
      ...Object.values(endpoints),
      listDeputiesRoute(dependencies),
      removeDeputyOfRoute(dependencies),
    ],
    projections: [deputiesTable(dependencies.onChanged)],
    relay: deputiesRelay,
  };
  const deleteOf = async (tenantId: string, userId: string): Promise<void> => {
    const { rows } = await dependencies.database.system.query<{ user_id: string }>(
      `SELECT user_id FROM approval.deputies
       WHERE tenant_id = $1 AND (user_id = $2 OR deputy = $2)`,
      [tenantId, userId],
    );
    for (const { user_id: person } of rows) {
      const id = deputyIdOf({ tenantId, userId: person });
      const command = dependencies.systemCommand(tenantId, 'remove deputy', id, userId);
      await dependencies.streams.decideOn(deputies, id, command, (state) =>
        removeWithPerson({ userId: person, goneId: userId }, state),
      );
    }
  };
  return { module, endpoints, deleteOf };
}

export const deputiesStreams = [deputies];
