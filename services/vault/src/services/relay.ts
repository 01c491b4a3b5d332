/** Publishes public fields of a service's own events, never a value. */
import type { vaultEvents } from '@cardea/contracts';
import { relay } from '@cardea/event-bus';
import type { ReservationEvent } from '@cardea/event-store';
import type { ServiceEvent } from './service.ts';

export const servicesRelay = relay<ServiceEvent | ReservationEvent, typeof vaultEvents>({
  ServiceRegistered: ({ data: { service_id, service_name, service } }) => ({
    type: 'vault.service.registered',
    data: {
      service_id,
      service_name,
      credential_type: service?.credential_type ?? 'static',
      fields: service?.fields.map(({ name }) => name) ?? [],
    },
  }),
  ServiceChanged: ({ data: { service_id, service_name, changed } }) => ({
    type: 'vault.service.changed',
    data: { service_id, service_name, changed: [...changed] },
  }),
  ServiceDeleted: ({ data: { service_id, service_name } }) => ({
    type: 'vault.service.deleted',
    data: { service_id, service_name },
  }),
  SecretVersionWritten: ({ data: { service_id, service_name, field, version } }) => ({
    type: 'vault.secret.written',
    data: { service_id, service_name, field, version },
  }),
  SecretVersionPromoted: ({ data: { service_id, service_name, field, version, replaced } }) => ({
    type: 'vault.secret.promoted',
    data: { service_id, service_name, field, version, replaced },
  }),
  SecretRolledBack: ({ data: { service_id, service_name, field, version, replaced } }) => ({
    type: 'vault.secret.rolled_back',
    data: { service_id, service_name, field, version, replaced },
  }),
  SecretRevealed: ({ data: { service_id, service_name, field, version, reason } }) => ({
    type: 'vault.secret.revealed',
    data: { service_id, service_name, field, version, reason },
  }),
  SecretVersionDestroyed: ({ data: { service_id, service_name, field, version } }) => ({
    type: 'vault.secret.destroyed',
    data: { service_id, service_name, field, version },
  }),
});
