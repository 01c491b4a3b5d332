/** Lag and parked streams in the form that commands print. */
import type { Database } from '@cardea/read-models';
import type { Part } from '@cardea/service';

const EVENTS_COUNTED_MAX = 500;

/**
 * Events are counted, not positions, because only one of the stores has dense positions. Numbers are text, because they
 * can be large.
 */
export async function lagOf(
  { definition, needs }: Part,
  position: bigint,
  head: bigint,
): Promise<{ readonly count: string; readonly oldestSeconds: number }> {
  if (position >= head) return { count: '0', oldestSeconds: 0 };
  const events = await needs.store.readLog(definition.name, position, EVENTS_COUNTED_MAX);
  const [first] = events;
  const count =
    events.length === EVENTS_COUNTED_MAX ? `${EVENTS_COUNTED_MAX}+` : `${events.length}`;
  const ageMs = first === undefined ? 0 : needs.clock.now().getTime() - first.time.getTime();
  return { count, oldestSeconds: Math.max(0, Math.round(ageMs / 1000)) };
}

/** Parked streams by owner: `projection:users`, `relay:identity`, … */
export async function parkedBy(
  database: Pick<Database, 'system'>,
  schema: string,
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await database.system.query<{ owner: string; streams: number }>(
    `SELECT owner, count(DISTINCT stream_id)::int AS streams
     FROM ${schema}.parked_events GROUP BY owner`,
  );
  return new Map(rows.map(({ owner, streams }) => [owner, streams]));
}

export type Relayed = {
  readonly log: string;
  readonly position: string;
  readonly head: string;
  readonly behind: string;
  readonly oldest_seconds: number;
  readonly held_back_streams: number;
};

export async function relayLag(part: Part): Promise<Relayed> {
  const { name } = part.definition;
  const { database, store } = part.needs;
  const head = await store.head(name);
  const { rows } = await database.system.query<{ position: string }>(
    'SELECT position FROM bus.relay_checkpoints WHERE log = $1',
    [name],
  );
  const position = BigInt(rows[0]?.position ?? 0);
  const { count, oldestSeconds } = await lagOf(part, position, head);
  const parked = await parkedBy(database, name);
  return {
    log: name,
    position: String(position),
    head: String(head),
    behind: count,
    oldest_seconds: oldestSeconds,
    held_back_streams: parked.get(`relay:${name}`) ?? 0,
  };
}
