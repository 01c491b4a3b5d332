/**
 * The texts of a request to a set are encrypted under the request's own key, because no single person owns them. They
 * are erased with the person for whom the agent acted, or 90 days after the request could last be decided.
 */
import type { RowOf } from '@cardea/read-models';
import { type Loop, type ServiceDependencies, sweeping } from '@cardea/service';
import { setSubjectOf } from '../approval-requests/request.ts';
import { requestRows } from '../approval-requests/requests.projection.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'database' | 'sealer'>;
const REQUEST = requestRows.select('tenant_id', 'id').of('r');

const KEPT_MS = 90 * 24 * 3_600_000;
const SWEEP_EVERY_MS = 3_600_000;
const PAGE_ROWS = 500;
const TO_ERASE = `
  SELECT ${REQUEST.columns} FROM approval.requests r
  JOIN approval.subject_keys k ON k.subject_id = 'request:' || r.tenant_id || ':' || r.id
  WHERE r.approver IS NOT NULL AND k.wrapped IS NOT NULL`;

/** Erases the texts of requests that an agent made for this person. */
export async function eraseTextsFor(
  needs: Omit<Dependencies, 'clock'>,
  { tenantId, userId }: { readonly tenantId: string; readonly userId: string },
): Promise<void> {
  const where = `${TO_ERASE} AND r.tenant_id = $1 AND r.session_user_id = $2 LIMIT ${PAGE_ROWS}`;
  while ((await erasePage(needs, where, [tenantId, userId])) === PAGE_ROWS);
}

export const oldSetTexts = (needs: Dependencies): Loop =>
  sweeping({
    name: 'approval.set_texts',
    everyMs: SWEEP_EVERY_MS,
    clock: needs.clock,
    sweep: async (signal, tick) => {
      const before = new Date(needs.clock.now().getTime() - KEPT_MS);
      const where = `${TO_ERASE} AND r.expires_at < $1 LIMIT ${PAGE_ROWS}`;
      while (!signal.aborted && (await erasePage(needs, where, [before])) === PAGE_ROWS) tick();
    },
  });

async function erasePage(
  { database, sealer }: Omit<Dependencies, 'clock'>,
  text: string,
  values: readonly unknown[],
): Promise<number> {
  const { rows } = await database.system.query<RowOf<typeof REQUEST>>(text, values);
  for (const { tenant_id, id } of rows) await sealer.erase(setSubjectOf(tenant_id, id));
  return rows.length;
}
