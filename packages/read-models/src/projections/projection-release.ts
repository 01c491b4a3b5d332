/** Applies a parked stream's events to its projection, in order, in one transaction. */
import type { EventStore, RecordedEvent } from '@cardea/event-store';
import {
  isOutage,
  ownerOf,
  type Released,
  unpark,
  waitingEvents,
  waitingPositions,
} from '@cardea/log-follower';
import type { Database, Transaction } from '@cardea/postgres';
import { errorCode } from '@cardea/runtime';
import type { Batch } from './batch-statement.ts';
import type { Projection, ProjectionTools } from './projection.ts';
import { type Mapped, Projector } from './projector.ts';

/** How often a release starts again because more events were parked during it. */
const ROUNDS_MAX = 100;

export type ReleaseOptions = {
  readonly projection: Projection;
  readonly streamId: string;
  readonly store: EventStore;
  readonly database: Database;
  readonly schema: string;
  readonly open: ProjectionTools['open'];
};

/**
 * Any process may call it. The locked row of the checkpoint stops the follower, and its new epoch makes the follower
 * read it again. Events are mapped before the transaction, because mapping may decrypt fields, and again when more were
 * parked in the meantime.
 */
export async function releaseProjectionStream(options: ReleaseOptions): Promise<Released> {
  const { database, store } = options;
  try {
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const events = await waitingEvents(database.system, parkedOf(options), store);
      if (events.length === 0) return { released: true, events: 0 };
      const { projector, mapped } = await mappedOf(options, events);
      const [poison] = mapped.poison;
      if (poison !== undefined) return { released: false, errorCode: errorCode(poison.error) };
      const released = await database.asSystem((sql) =>
        release(sql, options, { projector, mapped, events }),
      );
      if (released) return { released: true, events: events.length };
    }
    return { released: false, errorCode: 'still_arriving' };
  } catch (error) {
    if (isOutage(error)) throw error;
    return { released: false, errorCode: errorCode(error) };
  }
}

const parkedOf = ({ projection, schema, streamId }: ReleaseOptions) => ({
  schema,
  owner: ownerOf({ kind: 'projection', name: projection.name }),
  streamId,
});

async function mappedOf(options: ReleaseOptions, events: readonly RecordedEvent[]) {
  const { projection, schema, database, open } = options;
  const tools = { open };
  const projector = new Projector({ projection, schema, database, tools, rebuilding: false });
  return { projector, mapped: await projector.map(events, new Set()) };
}

/** Returns false when other events are parked than those that were mapped. */
async function release(
  sql: Transaction,
  options: ReleaseOptions,
  of: {
    readonly projector: Projector;
    readonly mapped: Mapped;
    readonly events: readonly RecordedEvent[];
  },
): Promise<boolean> {
  const { projection, schema } = options;
  const { projector, mapped, events } = of;
  const { rows } = await sql.query<{ position: string; epoch: string }>(
    `SELECT position, epoch FROM ${schema}.projection_checkpoints WHERE name = $1 FOR UPDATE`,
    [projection.name],
  );
  const [checkpoint] = rows;
  if (checkpoint === undefined)
    throw new Error('A stream is parked of a projection that never ran.');
  const waiting = await waitingPositions(sql, parkedOf(options));
  const isMapped = events.every(({ position }) => waiting.has(String(position)));
  if (waiting.size !== events.length || !isMapped) return false;
  const batch: Batch = {
    schema,
    name: projection.name,
    from: BigInt(checkpoint.position),
    to: BigInt(checkpoint.position),
    epoch: BigInt(checkpoint.epoch),
    newEpoch: true,
    changes: mapped.changes,
    parked: [],
    told: true,
  };
  await sql.together(projector.statementsOf(batch, mapped.applied));
  await unpark(sql, parkedOf(options));
  return true;
}
