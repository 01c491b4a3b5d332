/**
 * Deletes the rows of deleted objects from a projection's tables: `apply: forgetTenantIn('agents')`. The deletion of a
 * tenant or a user does not list what belongs to it, so rows are found by its id.
 */
import type { Statement } from '@cardea/read-models';

type Deleted = { readonly data: { readonly id: string } };
type Schema = { readonly schema: string };

const rowsWhere =
  (condition: string, tables: readonly string[]) =>
  (events: readonly Deleted[], { schema }: Schema): readonly Statement[] => {
    const deleted = events.map(({ data }) => data.id);
    return tables.map((table) => ({
      text: `DELETE FROM ${schema}.${table} WHERE ${condition}`,
      values: [deleted],
    }));
  };

export const forgetTenantIn = (...tables: readonly string[]) => ({
  on: ['TenantDeleted'] as const,
  statements: rowsWhere('tenant_id = ANY($1)', tables),
});

export const forgetUserAndTenantIn = (table: string) => ({
  on: ['UserDeleted', 'TenantDeleted'] as const,
  statements: rowsWhere('user_id = ANY($1) OR tenant_id = ANY($1)', [table]),
});
