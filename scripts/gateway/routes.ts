/** The routes of the gateway: each public path once, with its service and the largest body. */
import type { ServiceName } from '@cardea/contracts';
import { catalogue } from '@cardea/http';
import type { ListedEndpoints } from '@cardea/service';

export type GatewayRoute = {
  /** The path with `{name}` for parameters, as in the contract. */
  readonly path: string;
  readonly service: ServiceName;
  readonly bodyLimitBytes: number;
  /** Whether the endpoint's error codes are in capitals. */
  readonly upperCaseCodes: boolean;
  /** Whether it accepts PUT, whose body may be sent again. */
  readonly isReplaced: boolean;
};

/** The body limit of every path, whatever its contract says (`docs/design/operations.md`, Gateway). */
export const BODY_LIMIT_BYTES = 256 * 1024;
/** The service for `/health*`, which every process serves. */
const HEALTH_SERVICE: ServiceName = 'identity';
/** Paths that the gateway never routes, even if a contract does not say that it is internal. */
const NEVER = /^\/(internal|dev|metrics|livez|readyz|startupz|loglevel)(\/|$)/;

/** Sorts routes in matching order: a literal segment before a parameter. */
export function gatewayRoutes({ common, services }: ListedEndpoints): readonly GatewayRoute[] {
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
        contract.input?.limitBytes ?? 0,
      ),
      upperCaseCodes: known?.upperCaseCodes === true || contract.response?.errors === 'upper_case',
      isReplaced: known?.isReplaced === true || contract.method === 'put',
    });
  }
  return [...routes.values()];
}
