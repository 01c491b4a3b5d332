import type { ServiceName } from '@cardea/contracts';

/**
 * The `application_name` of a session, by which its process is found. Without a service, of a process that runs all.
 */
export const sessionName = (kind: string, service: ServiceName | undefined): string =>
  service === undefined ? kind : `${kind} ${service}`;
