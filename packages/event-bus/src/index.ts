export type {
  BusRecord,
  Consumer,
  Mapped,
  Publisher,
  RelayDefinition,
  RelayMapper,
  RunningConsumer,
  Subscriber,
} from './bus.ts';
