/** Reads webhooks of a tenant as clients see them. */
import type { Database, RowOf } from '@cardea/read-models';
import type { WebhookShape } from './webhook-shape.ts';
import { webhookRows } from './webhooks.projection.ts';

const LISTED = webhookRows.select('id', 'url', 'description', 'events', 'enabled', 'created_at');

export async function rowsOf(
  database: Database,
  of: { readonly tenantId: string; readonly appId: string | undefined; readonly id?: string },
): Promise<WebhookShape[]> {
  const { rows } = await database.tenant(of.tenantId).query<RowOf<typeof LISTED>>(
    `SELECT ${LISTED.columns} FROM webhooks.webhooks
       WHERE tenant_id = $1 AND ($2::text IS NULL OR app_id = $2)
         AND ($3::uuid IS NULL OR id = $3)
       ORDER BY created_at, id`,
    [of.tenantId, of.appId ?? null, of.id ?? null],
  );
  return rows.map(({ description, created_at, ...row }) => ({
    ...row,
    ...(description === null ? {} : { description }),
    created_at: created_at.toISOString(),
  }));
}
