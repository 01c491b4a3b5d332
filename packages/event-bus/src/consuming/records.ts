/** The types that a consumer gets from the adapter of a bus, and those that it needs to apply records. */
import type { IntegrationEventKind } from '@cardea/contracts';
import type { Database, SharedTransactions } from '@cardea/read-models';
import type { Clock, Logger } from '@cardea/runtime';
import type { Lane } from './consumer-positions.ts';
import type { DeadLetters } from './dead-letter.ts';

/** A batch of an adapter. For each partition it has first the records in order of offset, then the skipped ones. */
export type Looked = {
  readonly records: readonly RawRecord[];
  /** The last record of a partition, if that was skipped. */
  readonly skipped: readonly SkippedRecord[];
};

/** A record from an adapter, not parsed yet. */
export type RawRecord = Lane & {
  readonly offset: string;
  readonly key: string;
  readonly value: unknown;
};

/** A record of a type that the consumer does not handle, with its position in the source's log. */
export type SkippedRecord = Lane & {
  readonly offset: string;
  /** Undefined for a record that was sent late, whose position does not belong to its partition. */
  readonly position?: string | undefined;
  readonly part?: number | undefined;
};

export type KindOf = (
  source: string,
  type: string,
  version: number,
) => IntegrationEventKind | undefined;

export type ConsumerDependencies = {
  readonly database: Database;
  /** The database of relays' checkpoints; often the same as `database`. */
  readonly bus: Pick<Database, 'system'>;
  /** The transactions of that database, which all consumers of the process share. */
  readonly shared: SharedTransactions;
  /** The service's schema, with its positions and parked events. */
  readonly schema: string;
  readonly deadLetters: DeadLetters;
  readonly kindOf: KindOf;
  readonly clock: Clock;
  readonly log: Logger;
  readonly counted?: (
    what: 'applied' | 'duplicate' | 'parked' | 'dead_letter',
    consumer: string,
    count: number,
  ) => void;
};
