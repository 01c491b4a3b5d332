/**
 * After a restore: versions that the restored log lists and whose ciphertext is erased are destroyed in the log, too,
 * whatever their stage. A field that loses its current version has none until one is written.
 */
import { accept, type Decision } from '@cardea/event-store';
import { computed, type RowOf, selection } from '@cardea/read-models';
import type { ServiceDependencies } from '@cardea/service';
import {
  carrying,
  destroying,
  replaceField,
  type SecretVersionDestroyed,
  type Service,
  services,
} from './service.ts';

type Dependencies = Pick<ServiceDependencies, 'database' | 'streams' | 'systemCommand'>;
const OWNER = selection({ tenant_id: 'text', owner_id: 'text' }).and(
  computed('secret_ids', 'array_agg(secret_id::text)', 'text[]'),
);

const OWNERS_PER_PAGE = 500;
const ERASED = `
  SELECT ${OWNER.columns} FROM vault.secret_versions
  WHERE blob IS NULL AND (tenant_id, owner_id) > ($1, $2)
  GROUP BY tenant_id, owner_id ORDER BY tenant_id, owner_id LIMIT ${OWNERS_PER_PAGE}`;

export async function destroyErased(vault: Dependencies): Promise<void> {
  let after: readonly [string, string] = ['', ''];
  for (;;) {
    const { rows } = await vault.database.system.query<RowOf<typeof OWNER>>(ERASED, after);
    for (const row of rows) await destroyErasedOf(vault, row);
    const last = rows.at(-1);
    if (last === undefined || rows.length < OWNERS_PER_PAGE) return;
    after = [last.tenant_id, last.owner_id];
  }
}

async function destroyErasedOf(
  { streams, systemCommand }: Dependencies,
  row: RowOf<typeof OWNER>,
): Promise<void> {
  const { tenant_id: tenantId, owner_id: id } = row;
  const erased = new Set(row.secret_ids);
  const command = systemCommand(tenantId, 'destroy erased', id);
  await streams.decideOn(services, id, command, (service) => erasedVersions(service, erased));
}

export function erasedVersions(
  service: Service,
  erased: ReadonlySet<string>,
): Decision<SecretVersionDestroyed, never> {
  if (service.status !== 'registered') return accept();
  let { record } = service;
  const events: SecretVersionDestroyed[] = [];
  for (const field of record.fields) {
    const gone = field.versions.filter(({ secret_id }) => erased.has(secret_id));
    if (gone.length === 0) continue;
    const versions = field.versions.filter((version) => !gone.includes(version));
    record = replaceField(record, { ...field, versions });
    events.push(...destroying(record, field.name, gone));
  }
  return accept(...carrying(record, events));
}
