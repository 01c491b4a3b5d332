/** After a tenant was deleted: deletes its webhooks with all their deliveries and every key. */
import { decideOnRows, forgetTenant, type ServiceDependencies } from '@cardea/service';
import { deleteWebhook, WEBHOOKS_TABLE, webhooks } from '../webhooks/webhooks.module.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'database' | 'positions' | 'sealer' | 'streams' | 'systemCommand'
> & { readonly store: Pick<ServiceDependencies['store'], 'head' | 'log'> };

const PAGE_WEBHOOKS = 256;
const CATCH_UP_MS = 30_000;
const FIRST = '00000000-0000-0000-0000-000000000000';

export async function deleteWebhooksOf(
  needs: Dependencies,
  event: { readonly tenantId: string; readonly id: string },
): Promise<void> {
  const { database, store, systemCommand } = needs;
  const { tenantId } = event;
  await decideOnRows(
    needs,
    {
      projections: [WEBHOOKS_TABLE],
      position: await store.head(store.log),
      waitMs: CATCH_UP_MS,
      pageRows: PAGE_WEBHOOKS,
      page: async (after) => {
        const { rows } = await database.system.query<{ id: string }>(
          `SELECT id FROM webhooks.webhooks WHERE tenant_id = $1 AND id > $2
           ORDER BY id LIMIT ${PAGE_WEBHOOKS}`,
          [tenantId, after],
        );
        return rows;
      },
      keyOf: ({ id }) => id,
      firstKey: FIRST,
    },
    {
      stream: webhooks,
      decisionOn: ({ id }) => ({
        id,
        command: systemCommand(tenantId, 'delete with tenant', event.id, id),
        decide: (webhook) => deleteWebhook(webhook, undefined),
      }),
    },
  );
  await forgetTenant(needs, event);
}
