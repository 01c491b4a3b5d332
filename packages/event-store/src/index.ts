export { eventId } from './appends/decide-once.ts';
export type { Command, Decided, Streams } from './command.ts';
export type {
  Append,
  AppendOutcome,
  Decision,
  DomainEvent,
  EventMetadata,
  EventStore,
  ExpectedRevision,
  Log,
  NewEvent,
  ReadAt,
  RecordedEvent,
  Stream,
  StreamForms,
  StreamRead,
} from './event-store.ts';
export {
  accept,
  EventIdTaken,
  EventStoreOverloaded,
  EventStoreUnavailable,
  refuse,
  streamIdOf,
  WriteContention,
} from './event-store.ts';
export {
  type EventStoreDbOptions,
  type EventStoreDbStores,
  eventStoreDbStores,
} from './eventstoredb/event-store-db-stores.ts';
export type {
  ConcerningType,
  EventHandlers,
  Handlers,
  HandlersByType,
  Ignored,
  Recorded,
  Total,
} from './handlers.ts';
export {
  handlersByType,
  ignored,
  isIgnored,
  madeTotal,
  recordedOf,
  stateAfter,
} from './handlers.ts';
export { LOG_NUMBERS } from './postgres/log-number.ts';
export { eventStoreMigrations } from './postgres/migrations.ts';
export {
  type PostgresEventStoreOptions,
  type PostgresEventStores,
  postgresEventStore,
  postgresEventStores,
} from './postgres/postgres-event-store.ts';
export {
  type Reservation,
  type ReservationEvent,
  type ReservedValue,
  release,
  reservation,
  reserve,
} from './reservations.ts';
export { stateThrough } from './states/folding.ts';
export {
  type AnyStream,
  type Loaded,
  type Snapshot,
  type SnapshotCache,
  snapshotCache,
} from './states/snapshots.ts';
export { STREAM_PAGE_EVENTS, STREAM_TAIL_EVENTS, streamPages } from './states/stream-pages.ts';
export { streams } from './streams.ts';
export { upcasting } from './upcasting.ts';
