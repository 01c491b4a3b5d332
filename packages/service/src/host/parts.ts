/** Builds the dependencies and the value of each service of a process. No loop runs yet. */
import {
  authenticator,
  dpopProofs,
  type KeyMisses,
  type MirroredRevocations,
  revocations,
  type TokenVerifier,
  tokenVerifier,
} from '@cardea/auth';
import { deriveFrom, sealer, wrapKeys } from '@cardea/crypto';
import type { Subscriber } from '@cardea/event-bus';
import { snapshotCache, streams, upcasting } from '@cardea/event-store';
import { openPositions, type PositionBoard, postgresSubjectKeys } from '@cardea/read-models';
import { allowedOrigins } from '../allowed-origins.ts';
import { commandOfRequest, commandOfSystem } from '../command.ts';
import { denial } from '../denials.ts';
import { idempotencyKeys, identifying } from '../idempotency.ts';
import { ownSecrets } from '../keys/own-secrets.ts';
import { pageKeys } from '../keys/page-keys.ts';
import { type RateLimit, type RateLimits, rateLimits } from '../limits/rate-limits.ts';
import { type Offers, type Peers, peersOf } from '../peers/peers.ts';
import type { Service, ServiceDefinition, ServiceDependencies } from '../service.ts';
import type { Infrastructure } from './infrastructure.ts';

/** The streams that every service has besides its own. */
const COMMON_STREAMS = [idempotencyKeys, denial()];

const REVOCATION_MARGIN_MS = 3_600_000;

export type HostOptions = {
  readonly infrastructure: Infrastructure;
  readonly definitions: readonly ServiceDefinition[];
  readonly port: number;
  readonly managementPort: number;
  readonly hosts: readonly string[];
  /** Whether endpoints that development limits to loopback (the mailbox) are served on every address. */
  readonly sharesDevelopment?: boolean;
  /** The port of `/internal/*`. Without it no calls are offered to other processes. */
  readonly internalPort?: number;
  /** Takes precedence over the calls that the services here offer, for tests. */
  readonly peers?: Offers;
  /** Calls to services that do not run here. */
  readonly elsewhere?: Offers;
  /** Runs after the probes, which respond already, and before everything that needs the database. */
  readonly before?: (waitingFor: Set<string>) => Promise<void>;
};

export type Part = {
  readonly definition: ServiceDefinition;
  readonly needs: ServiceDependencies;
  readonly positions: PositionBoard;
  readonly subscriber: Subscriber;
  readonly service: Service;
};

export type Built = {
  readonly parts: readonly Part[];
  readonly marks: MirroredRevocations;
  readonly verifier: TokenVerifier;
  readonly origins: ReturnType<typeof allowedOrigins>;
};

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: it lists what each part gets, a line each.
export function buildParts({
  infrastructure: shared,
  definitions,
  peers = {},
  elsewhere = {},
}: HostOptions): Built {
  const { settings, clock, cache, derive } = shared;
  const offers: Offers[] = [peers];
  const ask = peersOf(offers);
  const owner = settings.INTERNAL_KEY === undefined ? undefined : shared.service;
  const limits = rateLimits({ cache, clock, derive, factor: settings.RATE_LIMIT_FACTOR, owner });
  const marks = revocations({
    cache,
    clock,
    ttlMs: settings.JWT_EXPIRY * 1000 + REVOCATION_MARGIN_MS,
    ended: async (revoked) => (await ask.identity.ended({ marks: revoked })).ended,
  });
  const verifier = tokenVerifier({
    jwks: () => ask.identity.jwks(),
    issuer: settings.ISSUER,
    clock,
    revocations: marks,
  });
  const door = authenticator({
    verifier,
    dpop: dpopProofs({ issuer: settings.ISSUER, clock, cache }),
    introspect: async (token) => (await ask.identity.introspect({ token })).key ?? undefined,
    revocations: marks,
    clock,
    misses: keyMisses(limits),
  });
  const snapshots = snapshotCache();
  const parts = definitions.map((definition): Part => {
    const { name } = definition;
    const own = ownSecrets(shared.settings, name);
    const log = shared.log.child({ area: name });
    const store = upcasting(shared.storeFor(name), [...definition.streams, ...COMMON_STREAMS]);
    const seals = sealer({
      table: postgresSubjectKeys(shared.database, name),
      keys: wrapKeys(own, 'subject-wrap/v1'),
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
    const subscriber = shared.subscriberFor(name);
    const ownStreams = streams(store, { clock, snapshots });
    const systemCommand = commandOfSystem({ service: name, clock });
    const needs: ServiceDependencies = {
      settings: own,
      store,
      streams: ownStreams,
      database: shared.database,
      positions,
      notices: shared.locks,
      cache,
      bus: subscriber,
      sealer: seals,
      authenticator: door,
      verifier,
      revocations: marks,
      clock,
      ids: shared.ids,
      random: shared.random,
      log,
      loops: shared.loops,
      derive: own === settings ? derive : deriveFrom(own),
      pageKeys: pageKeys(settings, derive),
      limits,
      command: commandOfRequest({ service: name, sealer: seals, clock }),
      identify: identifying({ streams: ownStreams, sealer: seals, ids: shared.ids, systemCommand }),
      systemCommand,
      peers: ask,
    };
    const service = definition.build(needs);
    if (service.offers !== undefined) offers.push(service.offers);
    return { definition, needs, positions, subscriber, service };
  });
  offers.push(elsewhere);
  return { parts, marks, verifier, origins: originsOf(shared, ask) };
}

const originsOf = ({ settings, cache, clock, log }: Infrastructure, ask: Peers) =>
  allowedOrigins({
    own: settings.CORS_ORIGINS,
    read: () => ask.identity.origins(),
    cache,
    clock,
    log,
  });

/** Limits invalid API keys by address. */
export const KEY_MISSES: RateLimit = {
  name: 'key_ip',
  points: 60,
  windowMs: 60_000,
  per: 'address',
  counts: 'misses',
};

const keyMisses = (limits: RateLimits): KeyMisses => ({
  take: (ip) => limits.take([KEY_MISSES, ip]),
});

export const degradedOf = (parts: readonly Part[]): { readonly [name: string]: string } =>
  Object.assign({}, ...parts.map(({ service }) => service.degraded?.()));
