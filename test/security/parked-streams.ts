/** The streams that any follower of a log has parked, in all services. */
import { Client, escapeIdentifier } from 'pg';

export async function parkedStreams(databaseUrl: string): Promise<readonly object[]> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows: schemas } = await client.query<{ name: string }>(
      "SELECT schemaname AS name FROM pg_tables WHERE tablename = 'parked_events'",
    );
    if (schemas.length === 0) throw new Error('no table of parked events');
    const parked = schemas.map(
      ({ name }) =>
        `SELECT owner, stream_id, event_type FROM ${escapeIdentifier(name)}.parked_events`,
    );
    return (await client.query<object>(parked.join(' UNION ALL '))).rows;
  } finally {
    await client.end();
  }
}
