import type { Authenticator, MirroredRevocations } from '@cardea/auth';
import type { ServiceName } from '@cardea/contracts';
import type { Sealer } from '@cardea/crypto';
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
import type { Database, Positions, Projection, WrappedKeyTable } from '@cardea/read-models';
import type { Cache, Clock, Ids, Logger, Loops, Random, Settings } from '@cardea/runtime';
import type { Offers, Peers } from './peers.ts';
import type { Policy } from './policy.ts';
import type { RateLimits } from './rate-limits.ts';

/** Something that turns for as long as the process lives: sweeper, dispatcher, timer. */
export type Loop = {
  readonly name: string;
  /** Held by one replica at a time (advisory lock). */
  readonly leader?: boolean;
  /**
   * Runs until the signal aborts; ticks at least every 5 s, and may say why it cannot get on. A throw is logged
   * and the loop restarted with back-off.
   */
  readonly run: (
    signal: AbortSignal,
    tick: () => void,
    degraded: (reason: string | undefined) => void,
  ) => Promise<void>;
};

/** What a service is given; it builds nothing of this itself. */
export type ServiceDependencies = {
  readonly settings: Settings;
  readonly store: EventStore;
  readonly streams: Streams;
  readonly database: Database;
  readonly positions: Positions;
  readonly cache: Cache;
  /** How far this service's consumers have come. */
  readonly bus: Pick<Subscriber, 'appliedThrough' | 'ends' | 'applied'>;
  readonly sealer: Sealer;
  readonly authenticator: Authenticator;
  readonly revocations: MirroredRevocations;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  readonly log: Logger;
  readonly loops: Loops;
  /** HKDF of a deployment secret: `derive('JWT_SECRET', 'refresh/v1')`, 32 bytes; previous second. */
  readonly derive: (
    from: 'JWT_SECRET' | 'ENCRYPTION_KEY',
    info: string,
  ) => { readonly current: Buffer; readonly previous: Buffer | undefined };
  /**
   * The command that a request is: its id, time, actor, and sealed context. `as` says more where the
   * request alone does not know it: the tenant that a sign-up makes, the user that a login found.
   */
  readonly command: (
    request: Request<unknown, unknown, unknown>,
    as?: { readonly tenantId?: string; readonly actor?: EventMetadata['actor'] },
  ) => Promise<Command>;
  /** Done before the handler is called, unless the contract leaves it to the handler. */
  readonly identify: Identify;
  /** The command that a policy, sweeper or consumer gives; actor `system`, id derived from the parts. */
  readonly systemCommand: (tenantId: string, ...idParts: readonly string[]) => Command;
  /** Shared with what else this process runs: limits of one name count together. */
  readonly limits: RateLimits;
  /** Other services, by function call in standalone, by their internal listener elsewhere. */
  readonly peers: Peers;
};

/** What a service is made of; the same value is started alone, in standalone, and by tests. */
export type Service = {
  readonly endpoints: readonly Endpoint[];
  readonly projections: readonly Total<Projection>[];
  readonly relay: RelayHandlers;
  readonly consumers: readonly Total<Consumer>[];
  readonly policies: readonly Policy[];
  readonly loops: readonly Loop[];
  /** The process's own, unless the service knows its callers better. */
  readonly authenticator?: Authenticator;
  /** Before the first request: signing keys, bootstrap admin, warm indexes. */
  readonly start?: () => Promise<void>;
  readonly stop?: () => Promise<void>;
  /** Stream noun that refusals at its door are kept under; `denial` unless named. */
  readonly denialNoun?: string;
  /** What this process cannot do though it serves, by the name of the thing: said by its log and its readiness. */
  readonly degraded?: () => { readonly [name: string]: string };
  /** Before each scrape: sets the gauges of its area. */
  readonly measure?: () => Promise<void>;
  /** What this service offers to others. */
  readonly offers?: Offers;
};

export type ServiceDefinition = {
  readonly name: ServiceName;
  /** Every stream of its own: what an event of an older version reads as is known from here. */
  readonly streams: readonly StreamForms[];
  /** Folder of `NNNN-name.ts` migrations of schema `<name>`. */
  readonly migrations: URL;
  /** Tables of keys that stand wrapped under ENCRYPTION_KEY, beside `subject_keys`. */
  readonly wrappedKeys?: readonly WrappedKeyTable[];
  readonly build: (needs: ServiceDependencies) => Service;
};
