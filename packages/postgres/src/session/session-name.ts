import type { ServiceName } from '@cardea/contracts';

/** The `application_name` of a session, by which its process is found; of all services without one. */
export const sessionName = (kind: string, service: ServiceName | undefined): string =>
  service === undefined ? kind : `${kind} ${service}`;
