/**
 * One process that runs services: one in a container, all six in standalone. It builds their dependencies,
 * starts projections and loops, opens the API port last, and stops in reverse order.
 */
import type { ServiceName } from '@cardea/contracts';
import { type Endpoint, refusedWrites as refusedWritesOf } from '@cardea/http';
import type { Projection } from '@cardea/read-models';
import { onceAvailable } from '@cardea/runtime';
import { refuseForeignKeys } from '../keys/wrapped-keys.ts';
import { internalBearers } from '../peers/internal-bearer.ts';
import { internalListener } from '../peers/internal-listener.ts';
import { mergedOffers } from '../peers/peers.ts';
import type { ServiceDependencies } from '../service.ts';
import {
  caughtUp,
  startReadSide,
  startRetention,
  startRevocationLists,
  startTurning,
} from './background-work.ts';
import { apiServer, managementServer } from './http-servers.ts';
import { runLoop } from './loop-runner.ts';
import { buildParts, degradedOf, type HostOptions, type Part } from './parts.ts';
import { type Running, stopAll } from './running.ts';

export type Host = {
  readonly port: number;
  /** The port can only be reached from this machine. */
  readonly onLoopback: boolean;
  readonly managementPort: number;
  /** Undefined if all services run in one process. */
  readonly internalPort: number | undefined;
  /** The dependencies of a service that runs here. */
  needsOf(service: ServiceName): ServiceDependencies;
  readonly endpoints: readonly Endpoint[];
  /** The projections of each service; its schema is named after it. */
  readonly projections: readonly {
    readonly service: ServiceName;
    readonly projection: Projection;
  }[];
  drain(): void;
  stop(): Promise<void>;
};

/** The name of the last step of a start. When the process reports that it is ready, callers may connect at once. */
const DOOR = 'door';

export async function startHost(options: HostOptions): Promise<Host> {
  const { infrastructure: shared, definitions } = options;
  const { parts, marks, verifier, origins } = buildParts(options);
  for (const [name, reason] of Object.entries(degradedOf(parts))) {
    shared.log.warn({ name, reason }, 'this process starts degraded');
  }
  // The loops of one service rarely work at once, but those of all services in one process must not wait for each
  // other.
  if (parts.length > 1) shared.database.resizeLoops(loopsOf(parts));
  const started: Running[] = [];
  const waitingFor = new Set<string>([...definitions.map(({ name }) => name), DOOR]);
  const patiently = (work: () => Promise<void>) => onceAvailable(work, shared.clock.sleep);
  const stopStarted = (): Promise<void> => stopAll(started);
  try {
    const refusedWrites = refusedWritesOf(shared.clock);
    const server = apiServer(options, parts, { origins, refusedWrites });
    const probes = managementServer(options, parts, { waitingFor, refusedWrites });
    const { port: managementPort } = await probes.start();
    started.push(probes);
    await options.before?.(waitingFor);
    await patiently(() => refuseForeignKeys({ ...shared, definitions }));
    started.push(await startRevocationLists(marks, verifier, shared));
    started.push(startRetention(shared), runLoop(origins.loop, shared));
    for (const part of parts) {
      started.push(await startReadSide(part, shared));
    }
    for (const part of parts) {
      await patiently(() => caughtUp(part));
      for (const start of part.service.starts) await patiently(start);
      started.push(await startTurning(part, shared));
      waitingFor.delete(part.definition.name);
    }
    const internalPort = await offer(options, parts, started);
    const { port, onLoopback } = await server.start();
    started.push(server);
    waitingFor.delete(DOOR);
    return {
      port,
      onLoopback,
      managementPort,
      internalPort,
      endpoints: parts.flatMap(({ service }) => service.endpoints),
      projections: parts.flatMap(({ definition, service }) =>
        service.projections.map((projection) => ({ service: definition.name, projection })),
      ),
      needsOf: (name) => needsOf(parts, name),
      drain: () => {
        probes.drain();
        server.drain();
      },
      stop: stopStarted,
    };
  } catch (error) {
    await stopStarted().catch(() => undefined);
    throw error;
  }
}

/** Starts the internal listener before the API port opens. It stops after that port has closed. */
async function offer(
  { infrastructure: shared, internalPort: port, hosts }: HostOptions,
  parts: readonly Part[],
  started: Running[],
): Promise<number | undefined> {
  if (port === undefined) return undefined;
  const { clock, ids, log, version } = shared;
  const listener = internalListener({
    offers: mergedOffers(parts.map(({ service }) => service.offers)),
    bearers: internalBearers(
      shared,
      parts.map(({ definition }) => definition.name),
    ),
    host: hosts[0] ?? '127.0.0.1',
    clock,
    ids,
    log,
    version,
    port,
  });
  const bound = await listener.start();
  started.push(listener);
  return bound.port;
}

/** The number of loops of a service, including its relay. */
const loopsOf = (parts: readonly Part[]): number =>
  parts
    .map(({ service }) => [service.projections, service.policies, service.consumers, service.loops])
    .reduce((sum, all) => sum + 1 + all.flat().length, 0);

function needsOf(parts: readonly Part[], name: ServiceName): ServiceDependencies {
  const part = parts.find(({ definition }) => definition.name === name);
  if (part === undefined) throw new Error(`${name} does not run here`);
  return part.needs;
}
