import { accept, type Decision, refuse } from '@cardea/event-store';
import { aboutService, type Service, type ServiceDeleted } from '../service.ts';

export function deleteService(service: Service): Decision<ServiceDeleted, 'service_not_found'> {
  if (service.status !== 'registered') return refuse('service_not_found');
  return accept({ type: 'ServiceDeleted', data: aboutService(service.record) });
}
