import { accept, type Decision } from '@cardea/event-store';
import type { Service, ServiceRecord, ServiceRegistered } from '../service.ts';

export type Register = Omit<ServiceRecord, 'created_at' | 'config_version' | 'fields'> & {
  readonly fields: readonly { readonly name: string; readonly description: string | null }[];
  readonly now: Date;
};

/** Registers the service. An existing one is unchanged, so a repeated request gets what the first one created. */
export function register(
  { now, fields, ...given }: Register,
  service: Service,
): Decision<ServiceRegistered, never> {
  if (service.status !== 'absent') return accept();
  const record: ServiceRecord = {
    ...given,
    fields: fields.map((field) => ({ ...field, last_version: 0, versions: [] })),
    config_version: 1,
    created_at: now.toISOString(),
  };
  return accept({
    type: 'ServiceRegistered',
    data: { service_id: record.id, service_name: record.name, service: record },
  });
}
