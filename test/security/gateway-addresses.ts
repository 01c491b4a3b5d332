/**
 * The product with its gateway in front. Each service has a separate server, as with six processes, in front of the one
 * host on which the suite's world runs. A misrouted request gets a 404.
 */
import { SERVICE_NAMES, type ServiceName } from '@cardea/contracts';
import { type HttpServer, healthEndpoints, serve } from '@cardea/http';
import { product } from '../../scripts/gateway/files.ts';
import { type Gateway, startGateway } from '../../scripts/gateway/start.ts';
import type { Fortress } from './fortress.ts';

export type Addresses = {
  readonly gateway: Gateway;
  /** Returns the service that owns the endpoint of this name. */
  readonly ownerOf: (operation: string) => ServiceName | undefined;
  stop(): Promise<void>;
};

export async function openAddresses(world: Fortress): Promise<Addresses> {
  const { services } = await product();
  const owners = new Map(
    services.flatMap(({ service, endpoints }) =>
      endpoints.map(({ contract }) => [contract.name, service] as const),
    ),
  );
  const servers: HttpServer[] = [];
  const upstreams = {} as { [name in ServiceName]: readonly string[] };
  for (const service of SERVICE_NAMES) {
    const upstream = upstreamOf(world, service, owners);
    servers.push(upstream);
    upstreams[service] = [`127.0.0.1:${(await upstream.start()).port}`];
  }
  const gateway = await startGateway({ upstreams, workers: 1 });
  return {
    gateway,
    ownerOf: (operation) => owners.get(operation),
    async stop() {
      await gateway.stop();
      for (const server of servers) await server.stop();
    },
  };
}

function upstreamOf(
  { host, shared, settings }: Fortress,
  service: ServiceName,
  owners: ReadonlyMap<string, ServiceName>,
): HttpServer {
  const { clock, ids, log: logger, cache, database } = shared;
  const { authenticator, positions } = host.needsOf(service);
  const own = host.endpoints.filter(({ contract }) => owners.get(contract.name) === service);
  const health = healthEndpoints({ version: '0', clock, database, cache });
  return serve({
    services: [{ service, endpoints: [...health, ...own], positions }],
    authenticator,
    name: service,
    version: '0',
    clock,
    ids,
    logger,
    issuer: settings.ISSUER,
    trustedProxies: ['127.0.0.1/32'],
    port: 0,
    hosts: ['127.0.0.1'],
  });
}
