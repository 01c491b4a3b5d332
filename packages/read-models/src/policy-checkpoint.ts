/** How far a policy has come, and which streams wait: one row and its parked events, moved together. */
import type { RecordedEvent } from '@cardea/event-store';
import { arrayLiteral } from './array-parameter.ts';
import type { Database } from './database.ts';
import { Fenced } from './projector.ts';

export type PolicyStanding = {
  position: bigint;
  readonly epoch: bigint;
  readonly parked: Set<string>;
};

/** `errorCode` of the event that parks its stream; null for those behind it. */
export type ParkedByPolicy = { readonly event: RecordedEvent; readonly errorCode: string | null };

export const policyOwner = (name: string): string => `policy:${name}`;

export class PolicyCheckpoint {
  readonly #database: Database;
  readonly #schema: string;
  readonly #name: string;

  constructor(database: Database, schema: string, name: string) {
    this.#database = database;
    this.#schema = schema;
    this.#name = name;
  }

  /** A policy that is new starts with the first event of the log. */
  async read(): Promise<PolicyStanding> {
    const { rows } = await this.#database.system.query<{
      position: string;
      epoch: string;
      parked: readonly string[];
    }>(
      `WITH made AS (
         INSERT INTO ${this.#schema}.policy_checkpoints (name, position) VALUES ($1, 0)
         ON CONFLICT DO NOTHING
       )
       SELECT coalesce(max(c.position), 0) AS position, coalesce(max(c.epoch), 0) AS epoch,
         array(SELECT DISTINCT stream_id FROM ${this.#schema}.parked_events WHERE owner = $2) AS parked
       FROM ${this.#schema}.policy_checkpoints c WHERE c.name = $1`,
      [this.#name, policyOwner(this.#name)],
    );
    const [row] = rows;
    return {
      position: BigInt(row?.position ?? 0),
      epoch: BigInt(row?.epoch ?? 0),
      parked: new Set(row?.parked),
    };
  }

  /** Throws {@link Fenced} when it does not stand where it was left. */
  async move(
    standing: PolicyStanding,
    to: bigint,
    parked: readonly ParkedByPolicy[],
  ): Promise<void> {
    const column = (type: string, of: (each: ParkedByPolicy) => unknown): string =>
      arrayLiteral(type, parked.map(of));
    const { rowCount } = await this.#database.system.query(
      `WITH moved AS (
         UPDATE ${this.#schema}.policy_checkpoints SET position = $1, updated_at = now()
         WHERE name = $2 AND position = $3 AND epoch = $4 RETURNING 1
       ), parking AS (
         INSERT INTO ${this.#schema}.parked_events
           (owner, stream_id, position, event_id, event_type, error_code)
         SELECT $5::text, u.* FROM unnest($6::text[], $7::bigint[], $8::uuid[], $9::text[], $10::text[]) AS u
         WHERE EXISTS (SELECT FROM moved) ON CONFLICT DO NOTHING
       ) SELECT FROM moved`,
      [
        to.toString(),
        this.#name,
        standing.position.toString(),
        standing.epoch.toString(),
        policyOwner(this.#name),
        column('text', ({ event }) => event.streamId),
        column('bigint', ({ event }) => event.position),
        column('uuid', ({ event }) => event.id),
        column('text', ({ event }) => event.type),
        column('text', ({ errorCode }) => errorCode),
      ],
    );
    if (rowCount === 0) throw new Fenced(`Policy ${this.#name} stands elsewhere.`);
    standing.position = to;
    for (const { event } of parked) standing.parked.add(event.streamId);
  }
}
