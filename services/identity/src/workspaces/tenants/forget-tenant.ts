/** Deletes the rows of deleted tenants from the tables of a projection: `apply: forgetTenantIn('agents')`. */
import type { Transaction } from '@cardea/read-models';
import type { TenantDeleted } from './tenant.ts';

type Deleted = { readonly data: TenantDeleted['data'] };

export const forgetTenantIn = (...tables: readonly string[]) => ({
  on: ['TenantDeleted'] as const,
  run: async (
    sql: Transaction,
    events: readonly Deleted[],
    { schema }: { readonly schema: string },
  ): Promise<void> => {
    const deleted = events.map(({ data }) => data.id);
    for (const table of tables) {
      await sql.query(`DELETE FROM ${schema}.${table} WHERE tenant_id = ANY($1)`, [deleted]);
    }
  },
});
