/** The two HTTP servers of a process: the API and the probes. */
import {
  type AllowedOrigins,
  documentEndpoints,
  type HttpServer,
  healthEndpoints,
  type Management,
  management,
  type RefusedWrites,
  serve,
} from '@cardea/http';
import { metrics } from '@cardea/runtime';
import { denialsOf } from '../denials.ts';
import { internalBearers } from '../peers/internal-bearer.ts';
import { measuring } from './measures.ts';
import { degradedOf, type HostOptions, type Part } from './parts.ts';

type ToServe = { readonly origins: AllowedOrigins; readonly refusedWrites: RefusedWrites };
type ToProbe = {
  readonly waitingFor: ReadonlySet<string>;
  readonly refusedWrites: RefusedWrites;
};

export function apiServer(
  options: HostOptions,
  parts: readonly Part[],
  { origins, refusedWrites }: ToServe,
): HttpServer {
  const { infrastructure: shared, definitions } = options;
  const { settings, version, clock, ids } = shared;
  const common = healthEndpoints({
    version,
    clock,
    database: shared.database,
    cache: shared.cache,
  });
  const all = [...common, ...parts.flatMap(({ service }) => service.endpoints)];
  const documents = documentEndpoints({
    endpoints: all,
    version,
    publicUrl: settings.PUBLIC_URL,
    isDevelopment: settings.ENV !== 'production',
  });
  const first = parts[0];
  if (first === undefined) throw new Error('a host without services');
  return serve({
    services: parts.map(({ definition, needs, positions, service }) => ({
      service: definition.name,
      authenticator: service.authenticator,
      endpoints:
        definition === first.definition
          ? [...common, ...documents, ...service.endpoints]
          : service.endpoints,
      positions,
      identify: needs.identify,
      denials: denialsOf(needs, service.denialNoun),
    })),
    authenticator: first.needs.authenticator,
    name: definitions.length === 1 ? first.definition.name : 'standalone',
    version,
    clock,
    ids,
    logger: shared.log,
    issuer: settings.ISSUER,
    trustedProxies: settings.TRUSTED_PROXIES,
    origins,
    registry: metrics.registry,
    refusedWrites,
    port: options.port,
    hosts: options.hosts,
    fastPath: settings.HTTP_FAST_PATH === 'on',
    sharesLoopbackOnly: options.sharesDevelopment === true,
  });
}

export function managementServer(
  options: HostOptions,
  parts: readonly Part[],
  { waitingFor, refusedWrites }: ToProbe,
): Management {
  const { infrastructure: shared } = options;
  return management({
    clock: shared.clock,
    loops: shared.loops,
    registry: metrics.registry,
    measure: measuring(parts, shared),
    database: shared.database,
    refusedWrites,
    waitingFor: () => [...waitingFor],
    degraded: () => degradedOf(parts),
    mayChange: internalBearers(
      shared,
      parts.map(({ definition }) => definition.name),
    ).acceptsTools,
    logLevel: { get: () => shared.log.level, set: (level) => shared.log.setLevel(level) },
    port: options.managementPort,
    host: options.hosts[0] ?? '127.0.0.1',
  });
}
