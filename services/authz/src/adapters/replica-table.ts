/**
 * Table `replicas`: each replica that answers from memory maintains one row, which writers read. Every call is one
 * statement in its own transaction, so a process that stops in between holds no lock.
 */
import { computed, type Database, type RowOf, selection } from '@cardea/read-models';

/** The channel of notifications `<replica id> <applied>`. */
export const REPLICAS_CHANNEL = 'cardea_authz_replicas';

const STORED = computed('id', 'replica_id', 'uuid').and(
  selection({
    /** Changes with each renewal, and only then. */
    counter: 'bigint',
    applied: 'bigint',
    /** Whether it cannot be renewed any more. */
    fenced: 'boolean',
  }),
);
export type Replica = Omit<RowOf<typeof STORED>, 'applied'> & { readonly applied: bigint };

export interface ReplicaTable {
  /** Replaces the row of an earlier registration of the same process. */
  register(id: string, applied: bigint, replaced: string | undefined): Promise<void>;
  /** Returns false if the row is fenced or missing. The commit is durable, since a lease depends on the counter. */
  renew(id: string, applied: bigint): Promise<boolean>;
  /**
   * Tells writers the progress. Returns false like `renew`. The commit is not durable, because progress that a crash
   * loses is reported again.
   */
  report(id: string, applied: bigint): Promise<boolean>;
  rows(): Promise<readonly Replica[]>;
  /** After this call none of the rows can be renewed. */
  fence(ids: readonly string[]): Promise<void>;
  /** Removes a row unless it was renewed after it had this counter. */
  remove(id: string, counter?: string): Promise<void>;
}

export function replicaTable({ system }: Pick<Database, 'system'>): ReplicaTable {
  return {
    register: async (id, applied, replaced) => {
      await system.query(
        `WITH replaced AS (DELETE FROM authz.replicas WHERE replica_id = $3)
         INSERT INTO authz.replicas (replica_id, counter, applied, fenced) VALUES ($1, 0, $2, false)`,
        [id, applied.toString(), replaced ?? null],
      );
    },
    renew: async (id, applied) => {
      const { rowCount } = await system.query(
        {
          name: 'replica_renew',
          text: `UPDATE authz.replicas SET counter = counter + 1, applied = $2
                 WHERE replica_id = $1 AND NOT fenced`,
        },
        [id, applied.toString()],
      );
      return rowCount > 0;
    },
    report: async (id, applied) => {
      const { rowCount } = await system.query(
        {
          name: 'replica_report',
          text: `WITH moved AS (
                   UPDATE authz.replicas SET applied = $2 WHERE replica_id = $1 AND NOT fenced
                   RETURNING replica_id, applied)
                 SELECT set_config('synchronous_commit', 'off', true),
                   pg_notify('${REPLICAS_CHANNEL}', concat(replica_id, ' ', applied)) FROM moved`,
        },
        [id, applied.toString()],
      );
      return rowCount > 0;
    },
    rows: async () => {
      const { rows } = await system.query<RowOf<typeof STORED>>({
        name: 'replica_rows',
        text: `SELECT ${STORED.columns} FROM authz.replicas`,
      });
      return rows.map((row) => ({ ...row, applied: BigInt(row.applied) }));
    },
    fence: async (ids) => {
      await system.query(
        'UPDATE authz.replicas SET fenced = true WHERE replica_id = ANY ($1::uuid[])',
        [ids],
      );
    },
    remove: async (id, counter) => {
      await system.query(
        `DELETE FROM authz.replicas WHERE replica_id = $1 AND ($2::bigint IS NULL OR counter = $2)`,
        [id, counter ?? null],
      );
    },
  };
}

/** Undefined for a payload of an unknown form, which another version of the program may send. */
export function readNotice(payload: string): Pick<Replica, 'id' | 'applied'> | undefined {
  const [, id, applied] = /^([0-9a-f-]{36}) (\d+)$/.exec(payload) ?? [];
  return id === undefined || applied === undefined ? undefined : { id, applied: BigInt(applied) };
}
