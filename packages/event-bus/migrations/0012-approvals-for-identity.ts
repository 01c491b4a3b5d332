/** Identity hears what approval publishes: access that an agent asked for is added to what it may reach. */
export const migration = {
  up: async (knex: { raw(sql: string): PromiseLike<unknown> }): Promise<void> => {
    for (const [table, topics] of TABLES) {
      await knex.raw(
        `CREATE POLICY hears_approval ON bus.${table} FOR SELECT TO cardea_identity_system
           USING (${topics})`,
      );
    }
  },
};

const TABLES = [
  ['records', "topic = 'cardea.approval.events.v1'"],
  ['partitions', "topic = 'cardea.approval.events.v1'"],
  ['relay_checkpoints', "log = 'approval'"],
] as const;
