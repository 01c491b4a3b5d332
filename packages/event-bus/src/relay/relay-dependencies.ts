/** What a relay is given. */
import type { Sealer } from '@cardea/crypto';
import type { EventStore } from '@cardea/event-store';
import type { Database, LeaderLocks } from '@cardea/read-models';
import type { Cache, Clock, Logger, Loops } from '@cardea/runtime';
import type { Publisher } from '../bus.ts';
import type { KindOf } from '../consuming/consumer-core.ts';

export type RelayDependencies = {
  readonly store: EventStore;
  readonly publisher: Publisher;
  /** The service's own database and schema, where streams that cannot be mapped are parked. */
  readonly database: Database;
  readonly schema: string;
  /** Where the relay's checkpoint stands: the topics' database, often the same. */
  readonly bus: Database;
  readonly locks: LeaderLocks;
  readonly cache: Pick<Cache, 'set'>;
  readonly sealer: Pick<Sealer, 'open'>;
  readonly kindOf: KindOf;
  readonly clock: Clock;
  readonly loops: Loops;
  readonly log: Logger;
  readonly counted?: (batch: RelayedBatch) => void;
};

/** For metrics: what a batch that was sent has brought, and how old its oldest event was. */
export type RelayedBatch = {
  readonly topic: string;
  readonly read: number;
  readonly published: number;
  readonly oldestMs: number;
};
