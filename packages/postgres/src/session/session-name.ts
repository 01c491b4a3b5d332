import type { ServiceName } from '@cardea/contracts';

/**
 * The `application_name` of a session, by which its process is found. Without a service, it is the name for a process
 * that runs all.
 */
export const sessionName = (kind: string, service: ServiceName | undefined): string =>
  service === undefined ? kind : `${kind} ${service}`;
