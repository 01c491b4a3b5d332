/** The dependencies of a relay. */
import type { Sealer } from '@cardea/crypto';
import type { EventStore } from '@cardea/event-store';
import type { ProcessSession } from '@cardea/postgres';
import type { Database } from '@cardea/read-models';
import type { Cache, Clock, Logger, Loops } from '@cardea/runtime';
import type { Publisher } from '../bus.ts';
import type { KindOf } from '../consuming/records.ts';

export type RelayDependencies = {
  readonly store: EventStore;
  readonly publisher: Publisher;
  /** The service's own database and schema. Streams that cannot be mapped are parked there. */
  readonly database: Database;
  readonly schema: string;
  /** The database of the relay's checkpoint and of the topics; often the same as `database`. */
  readonly bus: Database;
  readonly locks: ProcessSession;
  readonly cache: Pick<Cache, 'set' | 'mode'>;
  readonly sealer: Pick<Sealer, 'open'>;
  readonly kindOf: KindOf;
  readonly clock: Clock;
  readonly loops: Loops;
  readonly log: Logger;
  readonly counted?: (batch: RelayedBatch) => void;
};

/** The size of a sent batch and the age of its oldest event, for metrics. */
export type RelayedBatch = {
  readonly topic: string;
  readonly read: number;
  readonly published: number;
  readonly oldestMs: number;
};
