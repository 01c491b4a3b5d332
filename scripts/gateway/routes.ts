/** What the gateway routes: each public path once, with the service behind it and the largest body it takes. */
import type { ServiceName } from '@cardea/contracts';
import { catalogue } from '@cardea/http';
import type { Described } from '@cardea/service';

export type GatewayRoute = {
  /** With `{name}` for parameters, as in the contract. */
  readonly path: string;
  readonly service: ServiceName;
  readonly bodyLimitBytes: number;
  /** Its document spells error codes in capitals. */
  readonly upperCaseCodes: boolean;
};

/** Every path, whatever its contract says, takes this much (`docs/design/operations.md`, Gateway). */
export const BODY_LIMIT_BYTES = 256 * 1024;
/** Of `/health*`, which every process answers. */
const HEALTH_SERVICE: ServiceName = 'identity';
/** What a gateway never shows, should a contract forget to say that it is internal. */
const NEVER = /^\/(internal|dev|metrics|livez|readyz|startupz|loglevel)(\/|$)/;

/** In the order of their matching: a word before a parameter. */
export function gatewayRoutes({ common, services }: Described): readonly GatewayRoute[] {
  const owners = new Map([
    ...common.map(({ contract }) => [contract.name, HEALTH_SERVICE] as const),
    ...services.flatMap(({ service, endpoints }) =>
      endpoints.map(({ contract }) => [contract.name, service] as const),
    ),
  ]);
  const all = [...common, ...services.flatMap(({ endpoints }) => endpoints)];
  const routes = new Map<string, GatewayRoute>();
  for (const { contract } of catalogue(all)) {
    const service = owners.get(contract.name) as ServiceName;
    const known = routes.get(contract.path);
    if (NEVER.test(contract.path)) throw new Error(`${contract.path} is not for the gateway`);
    if (known !== undefined && known.service !== service) {
      throw new Error(`${contract.path} belongs to two services`);
    }
    routes.set(contract.path, {
      path: contract.path,
      service,
      bodyLimitBytes: Math.max(
        known?.bodyLimitBytes ?? BODY_LIMIT_BYTES,
        contract.bodyLimitBytes ?? 0,
      ),
      upperCaseCodes: known?.upperCaseCodes === true || contract.upperCaseCodes === true,
    });
  }
  return [...routes.values()];
}
