/**
 * One process that runs services: one of them in a container, all six in standalone. It builds what
 * each needs, starts what turns, opens the door last, and stops in the opposite order.
 */
import { authenticator, type Revocations, revocations, tokenVerifier } from '@cardea/auth';
import type { ServiceName } from '@cardea/contracts';
import { deriveFrom, sealer, wrapKeys } from '@cardea/crypto';
import { startRelay } from '@cardea/event-bus';
import { streams } from '@cardea/event-store';
import {
  documentEndpoints,
  type Endpoint,
  type HttpServer,
  healthEndpoints,
  type Management,
  management,
  serve,
} from '@cardea/http';
import {
  openPositions,
  type PositionBoard,
  postgresSubjectKeys,
  runPolicies,
  runProjections,
} from '@cardea/read-models';
import { metrics } from '@cardea/runtime';
import { commandOfRequest, commandOfSystem } from './command.ts';
import { mapDenial, recordDenial } from './denials.ts';
import type { Infrastructure } from './infrastructure.ts';
import { kindOf } from './kinds.ts';
import { runLoop } from './loop-runner.ts';
import type { Peers, Service, ServiceDefinition, ServiceNeeds } from './service.ts';

const REVOCATION_MARGIN_MS = 3_600_000;
/** A process that starts is ready once its projections stand where the logs stood at its start. */
const CATCH_UP_MS_MAX = 60_000;

export type HostOptions = {
  readonly infrastructure: Infrastructure;
  readonly definitions: readonly ServiceDefinition[];
  readonly port: number;
  readonly managementPort: number;
  readonly hosts: readonly string[];
  /** Services that do not run here: their internal listeners, or a test's own. */
  readonly peers?: Partial<Peers>;
};

export type Host = {
  readonly port: number;
  readonly managementPort: number;
  /** Of one of the services that run here. */
  needsOf(service: ServiceName): ServiceNeeds;
  readonly endpoints: readonly Endpoint[];
  drain(): void;
  stop(): Promise<void>;
};

type Part = {
  readonly definition: ServiceDefinition;
  readonly needs: ServiceNeeds;
  readonly positions: PositionBoard;
  readonly service: Service;
};

type Running = { stop(): Promise<void> };

export async function startHost(options: HostOptions): Promise<Host> {
  const { infrastructure: shared, definitions } = options;
  const parts = build(options);
  const started: Running[] = [];
  const waitingFor = new Set<string>(definitions.map(({ name }) => name));
  const stopStarted = async (): Promise<void> => {
    for (const running of started.toReversed()) await running.stop();
  };
  try {
    const door = doorOf(options, parts);
    const probes = probesOf(options, waitingFor);
    const { port: managementPort } = await probes.start();
    started.push(probes);
    for (const part of parts) {
      started.push(await startReadSide(part, shared));
    }
    for (const part of parts) {
      await caughtUp(part);
      await part.service.start?.();
      started.push(await startTurning(part, shared));
      waitingFor.delete(part.definition.name);
    }
    const { port } = await door.start();
    started.push(door);
    return {
      port,
      managementPort,
      endpoints: parts.flatMap(({ service }) => service.endpoints),
      needsOf: (name) => needsOf(parts, name),
      drain: () => probes.drain(),
      stop: stopStarted,
    };
  } catch (error) {
    await stopStarted();
    throw error;
  }
}

function needsOf(parts: readonly Part[], name: ServiceName): ServiceNeeds {
  const part = parts.find(({ definition }) => definition.name === name);
  if (part === undefined) throw new Error(`${name} does not run here`);
  return part.needs;
}

function build({ infrastructure: shared, definitions, peers = {} }: HostOptions): readonly Part[] {
  const { settings, clock, cache } = shared;
  const offers: Partial<Peers>[] = [peers];
  const ask = peersOf(offers);
  const marks: Revocations = revocations({
    cache,
    clock,
    log: shared.log,
    ttlMs: settings.JWT_EXPIRY * 1000 + REVOCATION_MARGIN_MS,
  });
  const door = authenticator({
    verifier: tokenVerifier({ jwks: ask.jwks, issuer: settings.ISSUER, clock, revocations: marks }),
    introspect: ask.introspect,
    revocations: marks,
    clock,
  });
  const derive = deriveFrom(settings);
  return definitions.map((definition) => {
    const { name } = definition;
    const log = shared.log.child({ area: name });
    const store = shared.storeFor(name);
    const seals = sealer({
      table: postgresSubjectKeys(shared.database, name),
      keys: wrapKeys(settings, 'subject-wrap/v1'),
      clock,
      random: shared.random,
    });
    const positions = openPositions({
      schema: name,
      database: shared.database,
      leader: shared.locks,
      clock,
      log,
    });
    const needs: ServiceNeeds = {
      settings,
      store,
      streams: streams(store, { clock }),
      database: shared.database,
      positions,
      cache,
      sealer: seals,
      authenticator: door,
      revocations: marks,
      clock,
      ids: shared.ids,
      random: shared.random,
      log,
      loops: shared.loops,
      derive,
      command: commandOfRequest({ service: name, sealer: seals, clock }),
      systemCommand: commandOfSystem({ service: name, clock }),
      peers: ask,
    };
    const service = definition.build(needs);
    if (service.offers !== undefined) offers.push(service.offers);
    return { definition, needs, positions, service };
  });
}

/** Asks whoever offers it, once all services are built. */
function peersOf(offers: readonly Partial<Peers>[]): Peers {
  const find = <Name extends keyof Peers>(name: Name): Peers[Name] => {
    const offer = offers.find((each) => each[name] !== undefined)?.[name];
    if (offer === undefined) throw new Error(`no service offers ${name}`);
    return offer as Peers[Name];
  };
  return {
    introspect: (credential) => find('introspect')(credential),
    jwks: () => find('jwks')(),
    approval: {
      open: (input) => find('approval').open(input),
      get: (tenantId, id) => find('approval').get(tenantId, id),
      consume: (id, input) => find('approval').consume(id, input),
    },
  };
}

async function startReadSide(part: Part, shared: Infrastructure): Promise<Running> {
  const { definition, needs, positions, service } = part;
  const projections = await runProjections({
    projections: service.projections,
    store: needs.store,
    database: shared.database,
    schema: definition.name,
    leader: shared.locks,
    positions,
    sealer: needs.sealer,
    loops: shared.loops,
    clock: shared.clock,
    log: needs.log,
  });
  return {
    async stop() {
      await projections.stop();
      await positions.close();
    },
  };
}

async function caughtUp({ definition, needs, positions, service }: Part): Promise<void> {
  const head = await needs.store.head(definition.name);
  const names = service.projections.map(({ name }) => name);
  if (await positions.reached(names, head, CATCH_UP_MS_MAX)) return;
  // It goes on in the background; readiness and the lag metrics tell, and reads are late, not wrong.
  needs.log.warn({}, 'projections are still behind after a minute');
}

/** Relay, policies, consumers and loops of one service. */
async function startTurning(part: Part, shared: Infrastructure): Promise<Running> {
  const { definition, needs, service } = part;
  const { name } = definition;
  const { clock, loops, locks } = shared;
  const log = needs.log;
  const started: Running[] = [];
  started.push(
    startRelay(
      { log: name, map: async (event, tools) => mapDenial(event) ?? service.relay(event, tools) },
      {
        store: needs.store,
        publisher: shared.publisher,
        database: shared.database,
        schema: name,
        bus: shared.database,
        locks,
        cache: shared.cache,
        sealer: needs.sealer,
        kindOf,
        clock,
        loops,
        log,
      },
    ),
  );
  started.push(
    await runPolicies({
      policies: service.policies,
      store: needs.store,
      database: shared.database,
      schema: name,
      leader: locks,
      loops,
      clock,
      log,
    }),
  );
  const subscriber = shared.subscriberFor(name);
  for (const consumer of service.consumers) started.push(await subscriber.run(consumer));
  for (const loop of service.loops) {
    started.push(runLoop(loop, { loops, clock, log, locks }));
  }
  return {
    async stop() {
      for (const running of started.toReversed()) await running.stop();
      await service.stop?.();
    },
  };
}

function doorOf(options: HostOptions, parts: readonly Part[]): HttpServer {
  const { infrastructure: shared, definitions } = options;
  const { settings, version, clock, ids } = shared;
  const common = healthEndpoints({
    version,
    clock,
    database: shared.database,
    cache: shared.cache,
  });
  const all = [...common, ...parts.flatMap(({ service }) => service.endpoints)];
  const documents = documentEndpoints({ endpoints: all, version, publicUrl: settings.PUBLIC_URL });
  const first = parts[0];
  if (first === undefined) throw new Error('a host without services');
  return serve({
    services: parts.map(({ definition, needs, positions, service }) => ({
      service: definition.name,
      endpoints:
        definition === first.definition
          ? [...common, ...documents, ...service.endpoints]
          : service.endpoints,
      positions,
      denials: {
        record: async ({ request, area, operation, reason, status, target, count }) => {
          const command = await needs.command(request);
          const data = { area, operation, reason, status, target, count };
          await recordDenial(needs.streams, command, data, service.denialNoun);
        },
      },
    })),
    authenticator: first.needs.authenticator,
    name: definitions.length === 1 ? first.definition.name : 'standalone',
    version,
    clock,
    ids,
    logger: shared.log,
    issuer: settings.ISSUER,
    trustedProxies: settings.TRUSTED_PROXIES,
    registry: metrics.registry,
    port: options.port,
    hosts: options.hosts,
  });
}

function probesOf(options: HostOptions, waitingFor: ReadonlySet<string>): Management {
  const { infrastructure: shared } = options;
  return management({
    clock: shared.clock,
    loops: shared.loops,
    registry: metrics.registry,
    database: shared.database,
    waitingFor: () => [...waitingFor],
    logLevel: { get: () => shared.log.level, set: (level) => shared.log.setLevel(level) },
    port: options.managementPort,
    host: options.hosts[0] ?? '127.0.0.1',
  });
}
