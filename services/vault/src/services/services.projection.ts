/** Maintains `services`, which the list reads; a deleted service has no row. */
import type { Recorded } from '@cardea/event-store';
import { jsonOf, projection, type TableChange, table } from '@cardea/read-models';
import type { ServiceEvent } from './service.ts';
import { type ServiceShape, shownService } from './service-shape.ts';

export const serviceRows = table('services', {
  key: ['tenant_id', 'id'],
  columns: {
    tenant_id: 'text',
    id: 'text',
    name: 'text',
    shown: jsonOf<ServiceShape>(),
    created_at: 'timestamptz',
  },
});

/** After the commit, `onChanged` is called for each tenant whose services changed. */
export const servicesProjection = (onChanged: (tenantId: string) => void) =>
  projection<ServiceEvent>()({
    name: 'services',
    log: 'vault',
    tables: [serviceRows],
    on: {
      ServiceRegistered: changed,
      ServiceChanged: changed,
      SecretVersionWritten: changed,
      SecretVersionDestroyed: changed,
      SecretVersionPromoted: changed,
      SecretRolledBack: changed,
      ServiceDeleted: ({ data, metadata }) => [
        serviceRows.remove({ tenant_id: metadata.tenantId, id: data.service_id }),
      ],
    },
    onCommitted: (events) => {
      for (const tenantId of new Set(events.map(({ metadata }) => metadata.tenantId))) {
        onChanged(tenantId);
      }
    },
  });

function changed({ data, metadata }: Recorded<ServiceEvent>): readonly TableChange[] {
  const { service } = data;
  if (service === null) return [];
  return [
    serviceRows.put({
      tenant_id: metadata.tenantId,
      id: service.id,
      name: service.name,
      shown: shownService(service),
      created_at: service.created_at,
    }),
  ];
}
