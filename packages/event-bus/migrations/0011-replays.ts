/**
 * A replay of a log: where it is asked to begin, and once it has begun, from which position and from which
 * offset of each partition on the records follow each other without a gap.
 */
export const migration = {
  up: async (knex: { raw(sql: string): PromiseLike<unknown> }): Promise<void> => {
    await knex.raw(`ALTER TABLE bus.relay_checkpoints
      ADD COLUMN replay_from bigint,
      ADD COLUMN replayed_from bigint,
      ADD COLUMN replayed_at timestamptz,
      ADD COLUMN replayed_offsets jsonb`);
  },
};
