import type { Authenticator, MirroredRevocations, TokenVerifier } from '@cardea/auth';
import type { ServiceName } from '@cardea/contracts';
import type { DerivedKeys, Sealer } from '@cardea/crypto';
import type { Consumer, RelayHandlers, Subscriber } from '@cardea/event-bus';
import type {
  Command,
  EventMetadata,
  EventStore,
  StreamForms,
  Streams,
  Total,
} from '@cardea/event-store';
import type { Endpoint, Identify, Request } from '@cardea/http';
import type { ProcessSession } from '@cardea/postgres';
import type { Database, Positions, Projection, WrappedKeyTable } from '@cardea/read-models';
import type { Cache, Clock, Ids, Logger, Loops, Random, Settings } from '@cardea/runtime';
import type { RateLimits } from './limits/rate-limits.ts';
import type { Offers, Peers } from './peers/peers.ts';
import type { Policy } from './policy.ts';

/** A loop that runs for as long as the process lives: sweeper, dispatcher, timer. */
export type Loop = {
  readonly name: string;
  /** Whether the loop runs on one replica at a time (advisory lock). */
  readonly leader?: boolean;
  /**
   * Runs until the signal aborts. It ticks at least every 10 s, and may report why it is blocked. An exception is
   * logged and the loop restarted with back-off.
   */
  readonly run: (
    signal: AbortSignal,
    tick: () => void,
    degraded: (reason: string | undefined) => void,
  ) => Promise<void>;
};

/** The dependencies of a service, which builds none of them itself. */
export type ServiceDependencies = {
  readonly settings: Settings;
  readonly store: EventStore;
  readonly streams: Streams;
  readonly database: Database;
  readonly positions: Positions;
  /** The notices of other processes, by NOTIFY. */
  readonly notices: Pick<ProcessSession, 'listen'>;
  readonly cache: Cache;
  /** The positions of this service's consumers. */
  readonly bus: Pick<Subscriber, 'appliedThrough' | 'ends' | 'applied'>;
  readonly sealer: Sealer;
  readonly authenticator: Authenticator;
  /** The verifier of this process. Code that signs a token adds it here. */
  readonly verifier: Pick<TokenVerifier, 'signedHere'>;
  readonly revocations: MirroredRevocations;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  readonly log: Logger;
  readonly loops: Loops;
  /**
   * HKDF of a deployment secret: `derive('JWT_SECRET', 'refresh/v1')`. Returns 32 bytes under the current secret, and
   * under the previous one.
   */
  readonly derive: (
    from: 'JWT_SECRET' | 'ENCRYPTION_KEY',
    info: string,
  ) => { readonly current: Buffer; readonly previous: Buffer | undefined };
  /** The keys that encrypt the cookie of the pages, equal in every service. */
  readonly pageKeys: DerivedKeys;
  /**
   * Builds the command of a request: its id, time, actor, and encrypted context. `as` adds what the request itself does
   * not contain: the tenant that a sign-up creates, the user that a login found.
   */
  readonly command: (
    request: Request<unknown, unknown, unknown>,
    as?: { readonly tenantId?: string; readonly actor?: EventMetadata['actor'] },
  ) => Promise<Command>;
  /** Called before the handler, unless the contract leaves it to the handler. */
  readonly identify: Identify;
  /** Builds the command of a policy, sweeper or consumer: actor `system`, id derived from the parts. */
  readonly systemCommand: (tenantId: string, ...idParts: readonly string[]) => Command;
  /** Shared with other services of this process. Limits with the same name count together. */
  readonly limits: RateLimits;
  /** Other services: by function call in standalone, otherwise by their internal listener. */
  readonly peers: Peers;
};

/** The parts of a service. The same value is started alone, in standalone, and by tests. */
export type Service = {
  readonly endpoints: readonly Endpoint[];
  readonly projections: readonly Total<Projection>[];
  readonly relay: RelayHandlers;
  readonly consumers: readonly Total<Consumer>[];
  readonly policies: readonly Policy[];
  readonly loops: readonly Loop[];
  /** The process's own authenticator by default. */
  readonly authenticator?: Authenticator;
  /**
   * Run before the first request, one after another: signing keys, bootstrap admin, warm indexes. Each is repeated
   * while a dependency is unavailable.
   */
  readonly starts: readonly (() => Promise<void>)[];
  readonly stop?: () => Promise<void>;
  /** The noun of the streams that record its refusals; `denial` by default. */
  readonly denialNoun?: string;
  /** Functions that are unavailable although the process serves, by name. The log and the readiness show them. */
  readonly degraded?: () => { readonly [name: string]: string };
  /** Called before each scrape. Sets the service's gauges. */
  readonly measure?: () => Promise<void>;
  /** The calls that this service offers to others. */
  readonly offers?: Offers;
};

export type ServiceDefinition = {
  readonly name: ServiceName;
  /** All streams of the service, with the upcasters of their older event versions. */
  readonly streams: readonly StreamForms[];
  /** The folder of the migrations `NNNN-name.ts` of schema `<name>`. */
  readonly migrations: URL;
  /** Tables of keys that are wrapped under ENCRYPTION_KEY, besides `subject_keys`. */
  readonly wrappedKeys?: readonly WrappedKeyTable[];
  readonly build: (needs: ServiceDependencies) => Service;
};
