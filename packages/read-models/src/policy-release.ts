/** Hands a parked stream to its policy again, event by event, for as long as the policy takes them. */
import type { EventStore, RecordedEvent } from '@cardea/event-store';
import type { Database } from './database.ts';
import { errorCode } from './database-errors.ts';
import { PARKED_CHANNEL, type Released } from './parked-streams.ts';
import { policyOwner } from './policy-checkpoint.ts';
import type { EventPolicy } from './policy-runner.ts';

const ROUNDS_MAX = 100;

export type PolicyReleaseOptions = {
  readonly policy: EventPolicy;
  readonly streamId: string;
  readonly store: EventStore;
  readonly database: Database;
  readonly schema: string;
};

export async function releasePolicyStream(options: PolicyReleaseOptions): Promise<Released> {
  let handled = 0;
  // While this works, the runner goes on to park what arrives: a round takes what came meanwhile.
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const waiting = await waitingEvents(options);
    for (const event of waiting) {
      const failure = await handleOne(options, event);
      if (failure !== undefined) return { released: false, errorCode: failure };
      handled += 1;
    }
    if (await unpark(options)) return { released: true, events: handled };
  }
  return { released: false, errorCode: 'still_arriving' };
}

async function handleOne(
  { policy, database, schema, streamId }: PolicyReleaseOptions,
  event: RecordedEvent,
): Promise<string | undefined> {
  const row = [policyOwner(policy.name), streamId, event.position.toString()];
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

/** False when something was parked meanwhile. The new epoch makes the runner look again. */
function unpark({ policy, database, schema, streamId }: PolicyReleaseOptions): Promise<boolean> {
  const owner = policyOwner(policy.name);
  return database.asSystem(async (sql) => {
    await sql.query(`SELECT FROM ${schema}.policy_checkpoints WHERE name = $1 FOR UPDATE`, [
      policy.name,
    ]);
    const { rowCount } = await sql.query(
      `SELECT FROM ${schema}.parked_events WHERE owner = $1 AND stream_id = $2 LIMIT 1`,
      [owner, streamId],
    );
    if (rowCount > 0) return false;
    await sql.query(`UPDATE ${schema}.policy_checkpoints SET epoch = epoch + 1 WHERE name = $1`, [
      policy.name,
    ]);
    await sql.query(`SELECT pg_notify('${PARKED_CHANNEL}', $1)`, [`${schema} ${owner}`]);
    return true;
  });
}

async function waitingEvents(options: PolicyReleaseOptions): Promise<readonly RecordedEvent[]> {
  const { rows } = await options.database.system.query<{ position: string }>(
    `SELECT position FROM ${options.schema}.parked_events WHERE owner = $1 AND stream_id = $2`,
    [policyOwner(options.policy.name), options.streamId],
  );
  const waiting = new Set(rows.map((row) => row.position));
  const events = await options.store.readStream(options.streamId);
  return events.filter((event) => waiting.has(event.position.toString()));
}
