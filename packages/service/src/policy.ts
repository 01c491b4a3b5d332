import {
  type ConcerningType,
  type DomainEvent,
  type EventHandlers,
  handlersByType,
  madeTotal,
  type Total,
} from '@cardea/event-store';
import type { EventPolicy } from '@cardea/read-models';

/** A policy gets events and issues commands. It runs at least once per event, in order per stream, on one replica. */
export type Policy = Total<EventPolicy>;

/**
 * `policy<UserEvent>()({ name, on: { … } })` handles each event of the streams that it listens to and that
 * concerns it, or says why it ignores it.
 */
export const policy =
  <E extends DomainEvent>() =>
  <const Name extends string>({
    name,
    on,
  }: {
    readonly name: Name;
    readonly on: EventHandlers<E, ConcerningType<E, Name>, [], Promise<void>>;
  }): Policy => {
    const handlers = handlersByType<[], Promise<void>>(on);
    return madeTotal<EventPolicy>({
      name,
      on: Object.keys(handlers),
      handle: async (event) => handlers[event.type]?.(event),
    });
  };
