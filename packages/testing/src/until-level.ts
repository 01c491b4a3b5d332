/** Waits until everything that was written has been processed: each position has reached the end of what it follows. */
import { setTimeout as pause } from 'node:timers/promises';
import { SERVICE_NAMES } from '@cardea/contracts';
import type { Client } from 'pg';

const LOOK_EVERY_MS = 50;
const LEVEL_MS_MAX = 60_000;
const LOOKS_LEVEL = 2;

/** The next offset of each partition that has records. */
export type TopicEnds = () => Promise<
  readonly { readonly topic: string; readonly partition: number; readonly next: string }[]
>;

const each = (sql: (service: string) => string): string =>
  SERVICE_NAMES.map(sql).join(' UNION ALL ');

/** Logs are numbered in the order of the services. */
const LAGGING = `
WITH heads AS (
  SELECT log, coalesce((SELECT max(e.position) FROM eventstore.events e WHERE e.log = number), 0) AS head
  FROM unnest($1::text[]) WITH ORDINALITY AS l(log, number)
), checkpoints AS (
  ${each((name) => `SELECT '${name}' AS log, 'projection ' || name AS name, position FROM ${name}.projection_checkpoints`)}
  UNION ALL SELECT log, 'relay', position FROM bus.relay_checkpoints
), read AS (
  ${each((name) => `SELECT consumer, topic, partition, "offset" FROM ${name}.consumer_positions`)}
), ends AS (
  SELECT * FROM unnest($2::text[], $3::int[], $4::bigint[]) AS e(topic, partition, next)
)
SELECT log || ' ' || name AS name FROM checkpoints JOIN heads USING (log)
WHERE position < head
UNION ALL
SELECT consumer || ' of ' || topic FROM (SELECT DISTINCT consumer, topic FROM read) AS c
JOIN ends USING (topic) LEFT JOIN read USING (consumer, topic, partition)
WHERE coalesce("offset", -1) < next - 1
`;
const QUEUES = `
UNION ALL SELECT 'deliveries' FROM webhooks.queue
UNION ALL SELECT 'mail' FROM identity.mail_queue
`;

const ENDS =
  'SELECT topic, partition, next_offset AS next FROM bus.partitions WHERE next_offset > 0';

export const endsOfTables =
  (client: Client): TopicEnds =>
  async () =>
    (await client.query(ENDS)).rows;

/**
 * Throws after a time limit, with what still lags. Policies are left out, because they store their position for ignored
 * events seconds later, once for all policies.
 */
export const untilLevel = (client: Client, ends: TopicEnds): Promise<void> =>
  untilNothing(client, ends, { name: 'lagging', text: `${LAGGING}${QUEUES}LIMIT 20` });

/** Works like {@link untilLevel}, but does not wait for what is still to be sent to receivers outside. */
export const untilRead = (client: Client, ends: TopicEnds): Promise<void> =>
  untilNothing(client, ends, { name: 'lagging_inside', text: `${LAGGING}LIMIT 20` });

type Query = { readonly name: string; readonly text: string };

async function untilNothing(client: Client, ends: TopicEnds, query: Query): Promise<void> {
  const deadline = performance.now() + LEVEL_MS_MAX;
  // Records that a relay sends between the check of the topics and the check of its position are found by the next
  // check.
  for (let level = 0; level < LOOKS_LEVEL; ) {
    const lagging = await laggingOf(client, await ends(), query);
    level = lagging.length === 0 ? level + 1 : 0;
    if (level > 0) continue;
    if (performance.now() >= deadline) throw new Error(`not level: ${lagging.join(', ')}`);
    await pause(LOOK_EVERY_MS);
  }
}

async function laggingOf(
  client: Client,
  ends: Awaited<ReturnType<TopicEnds>>,
  query: Query,
): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>({
    ...query,
    values: [
      SERVICE_NAMES,
      ends.map(({ topic }) => topic),
      ends.map(({ partition }) => partition),
      ends.map(({ next }) => next),
    ],
  });
  return rows.map(({ name }) => name);
}
