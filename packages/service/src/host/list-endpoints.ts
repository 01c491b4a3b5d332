/**
 * Lists the endpoints of services without starting them. Gateway and document are generated from it. Everything is
 * built as in a process, but nothing connects and no loop runs.
 */
import type { ServiceName } from '@cardea/contracts';
import { type Endpoint, healthEndpoints } from '@cardea/http';
import type { ServiceDefinition } from '../service.ts';
import { type Given, infrastructure } from './infrastructure.ts';
import { buildParts } from './parts.ts';

export type ListedEndpoints = {
  /** The endpoints that every process serves besides those of its services: health. */
  readonly common: readonly Endpoint[];
  readonly services: readonly {
    readonly service: ServiceName;
    readonly endpoints: readonly Endpoint[];
  }[];
};

export async function listEndpoints(
  given: Given,
  definitions: readonly ServiceDefinition[],
): Promise<ListedEndpoints> {
  const shared = infrastructure(given);
  try {
    const { parts } = buildParts({
      infrastructure: shared,
      definitions,
      port: 0,
      managementPort: 0,
      hosts: [],
    });
    const { version, clock, database, cache } = shared;
    return {
      common: healthEndpoints({ version, clock, database, cache }),
      services: parts.map(({ definition, service }) => ({
        service: definition.name,
        endpoints: service.endpoints,
      })),
    };
  } finally {
    await shared.close();
  }
}
