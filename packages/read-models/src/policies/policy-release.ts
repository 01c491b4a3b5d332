/** Passes a parked stream's events to its policy again, one by one, until the policy fails. */
import type { EventStore, RecordedEvent } from '@cardea/event-store';
import {
  ownerOf,
  type Released,
  unpark,
  waitingEvents,
  waitingPositions,
} from '@cardea/log-follower';
import type { Database } from '@cardea/postgres';
import { errorCode } from '@cardea/runtime';
import type { EventPolicy } from './policy-sink.ts';

const ROUNDS_MAX = 100;

export type PolicyReleaseOptions = {
  readonly policy: EventPolicy;
  readonly streamId: string;
  readonly store: EventStore;
  readonly database: Database;
  readonly schema: string;
};

export async function releasePolicyStream(options: PolicyReleaseOptions): Promise<Released> {
  const { database, store } = options;
  let handled = 0;
  // In the meantime the follower parks new events of the stream, so each round reads them again.
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const waiting = await waitingEvents(database.system, parkedOf(options), store);
    for (const event of waiting) {
      const failure = await handleOne(options, event);
      if (failure !== undefined) return { released: false, errorCode: failure };
      handled += 1;
    }
    if (await goOn(options)) return { released: true, events: handled };
  }
  return { released: false, errorCode: 'still_arriving' };
}

const parkedOf = ({ policy, schema, streamId }: PolicyReleaseOptions) => ({
  schema,
  owner: ownerOf({ kind: 'policy', name: policy.name }),
  streamId,
});

async function handleOne(
  options: PolicyReleaseOptions,
  event: RecordedEvent,
): Promise<string | undefined> {
  const { policy, database, schema } = options;
  const { owner, streamId } = parkedOf(options);
  const row = [owner, streamId, event.position.toString()];
  try {
    await policy.handle(event);
  } catch (error) {
    const code = errorCode(error);
    await database.system.query(
      `UPDATE ${schema}.parked_events SET error_code = $4
       WHERE owner = $1 AND stream_id = $2 AND position = $3`,
      [...row, code],
    );
    return code;
  }
  await database.system.query(
    `DELETE FROM ${schema}.parked_events WHERE owner = $1 AND stream_id = $2 AND position = $3`,
    row,
  );
  return undefined;
}

/**
 * Returns false when an event was parked in the meantime. The new epoch makes the follower read its checkpoint again.
 */
function goOn(options: PolicyReleaseOptions): Promise<boolean> {
  const { policy, database, schema } = options;
  return database.asSystem(async (sql) => {
    await sql.query(`SELECT FROM ${schema}.policy_checkpoints WHERE name = $1 FOR UPDATE`, [
      policy.name,
    ]);
    if ((await waitingPositions(sql, parkedOf(options))).size > 0) return false;
    await sql.query(`UPDATE ${schema}.policy_checkpoints SET epoch = epoch + 1 WHERE name = $1`, [
      policy.name,
    ]);
    await unpark(sql, parkedOf(options));
    return true;
  });
}
