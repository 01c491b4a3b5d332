/**
 * What services offer, told without starting them: gateway and document are made from it. Everything
 * is wired as in a process, nothing is connected to and nothing turns.
 */
import type { ServiceName } from '@cardea/contracts';
import { type Endpoint, healthEndpoints } from '@cardea/http';
import { type Given, infrastructure } from './infrastructure.ts';
import { buildParts } from './parts.ts';
import type { ServiceDefinition } from './service.ts';

export type Described = {
  /** What every process answers beside its services' own: health. */
  readonly common: readonly Endpoint[];
  readonly services: readonly {
    readonly service: ServiceName;
    readonly endpoints: readonly Endpoint[];
  }[];
};

export async function describe(
  given: Given,
  definitions: readonly ServiceDefinition[],
): Promise<Described> {
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
