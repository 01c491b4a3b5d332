/** Keeps `services`, which the list reads; a deleted one has no row. */
import {
  type Projected,
  type Projection,
  put,
  remove,
  type TableChange,
} from '@cardea/read-models';
import type { ServiceEvent } from './service.ts';
import { shownService } from './service-shape.ts';

type On<T extends ServiceEvent['type']> = Projected<Extract<ServiceEvent, { type: T }>['data']>;

/** `onChanged` is told of each tenant whose services changed, after the commit. */
export const servicesProjection = (onChanged: (tenantId: string) => void): Projection => ({
  name: 'services',
  log: 'vault',
  tables: [
    {
      name: 'services',
      key: ['tenant_id', 'id'],
      columns: {
        tenant_id: 'text',
        id: 'text',
        name: 'text',
        shown: 'jsonb',
        created_at: 'timestamptz',
      },
    },
  ],
  on: {
    ServiceRegistered: stands,
    ServiceChanged: stands,
    SecretVersionWritten: stands,
    SecretVersionDestroyed: stands,
    ServiceDeleted: ({ data, metadata }: On<'ServiceDeleted'>) => [
      {
        table: 'services',
        change: remove({ tenant_id: metadata.tenantId, id: data.service_id }),
      },
    ],
  },
  onCommitted: (events) => {
    const own = events.filter(
      ({ type }) => type.startsWith('Service') || type.startsWith('Secret'),
    );
    for (const tenantId of new Set(own.map(({ metadata }) => metadata.tenantId))) {
      onChanged(tenantId);
    }
  },
});

function stands({ data, metadata }: On<'ServiceRegistered'>): readonly TableChange[] {
  const { service } = data;
  if (service === null) return [];
  const row = {
    tenant_id: metadata.tenantId,
    id: service.id,
    name: service.name,
    shown: shownService(service),
    created_at: service.created_at,
  };
  return [{ table: 'services', change: put(row) }];
}
