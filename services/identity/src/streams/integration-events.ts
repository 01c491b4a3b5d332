/** What a module's relay is made of: a mapper per private event type that others hear of. */
import type { IdentityEventData, IdentityEventType } from '@cardea/contracts';
import type { Mapped, RelayHandlers, RelayMapper } from '@cardea/event-bus';
import {
  type DomainEvent,
  madeTotal,
  type RecordedEvent,
  type Stream,
  upcastTo,
} from '@cardea/event-store';

export type RelayTools = Parameters<RelayMapper>[1];
type Mapper<Data> = (
  event: Omit<RecordedEvent, 'data'> & { readonly data: Data },
  tools: RelayTools,
) => Promise<Mapped | undefined> | Mapped | undefined;

/** Of a union of events; one of them may have several types with the same data. */
type DataOf<E extends DomainEvent, T> = E extends DomainEvent
  ? T extends E['type']
    ? E['data']
    : never
  : never;
type Mappers<E extends DomainEvent> = { readonly [T in E['type']]?: Mapper<DataOf<E, T>> };

/** A private event without a mapper stays private. */
export const relayOf = <E extends DomainEvent>(mappers: Mappers<E>): RelayHandlers =>
  madeTotal(mappers as unknown as { readonly [type: string]: RelayMapper });

/** An integration event with data that its contract takes. */
export const integrationEvent = <Of extends IdentityEventType>(
  type: Of,
  data: IdentityEventData<Of>,
): Mapped => ({ type, data });

/** The event's own stream as of this event. */
export const stateAt = async <State, E extends DomainEvent>(
  stream: Stream<State, E>,
  tools: RelayTools,
): Promise<State> =>
  (await tools.history()).reduce(
    (before, past) => stream.evolve(before, upcastTo(stream, past) as unknown as E),
    stream.initial,
  );
