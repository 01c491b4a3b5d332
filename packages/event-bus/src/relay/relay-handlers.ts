/** Declares which integration events a module publishes: a handler for each private event that concerns `relay`. */
import type { DataOf, EventDeclarations } from '@cardea/contracts';
import {
  type ConcerningType,
  type DomainEvent,
  type EventHandlers,
  handlersByType,
  madeTotal,
  type Recorded,
  recordedOf,
  type Stream,
  type Total,
} from '@cardea/event-store';
import type { Mapped, RelayMapper } from '../bus.ts';

type Declared = { readonly declared: EventDeclarations };
type TypeOf<Events extends Declared> = keyof Events['declared'] & string;

/** One of the integration events that a service declares. */
type Published<Events extends Declared> = {
  [Type in TypeOf<Events>]: {
    readonly type: Type;
    readonly schemaVersion?: number;
    readonly data: DataOf<Events, Type>;
  };
}[TypeOf<Events>];

type Answer<Event> = Event | readonly Event[] | undefined;
type Result<Event> = Answer<Event> | Promise<Answer<Event>>;

export type RelayTools = Pick<Parameters<RelayMapper>[1], 'open'> & {
  /** The state of the event's stream, up to and including this event. */
  readonly stateOf: <State, E extends DomainEvent>(stream: Stream<State, E>) => Promise<State>;
  /** The stream's events, up to and including this one. */
  readonly history: <State, E extends DomainEvent>(
    stream: Stream<State, E>,
  ) => Promise<readonly Recorded<E>[]>;
};

/** The handlers, by type of the private event. */
export type RelayHandlers = Total<{ readonly [type: string]: RelayMapper }>;

/**
 * Example: `relay<UserEvent, typeof identityEvents>({ … })`. A handler returns undefined for an event whose content is
 * not to be published.
 */
export function relay<E extends DomainEvent, Events extends Declared>(
  on: EventHandlers<E, ConcerningType<E, 'relay'>, [RelayTools], Result<Published<Events>>>,
): RelayHandlers {
  const handlers = handlersByType<[RelayTools], Result<Mapped>>(on);
  return madeTotal(
    Object.fromEntries(
      Object.entries(handlers).map(([type, handler]): [string, RelayMapper] => [
        type,
        (event, tools) => handler(event, relayTools(tools)),
      ]),
    ),
  );
}

const relayTools = ({ open, stateAt, history }: Parameters<RelayMapper>[1]): RelayTools => ({
  open,
  stateOf: async <State, E extends DomainEvent>(stream: Stream<State, E>) =>
    (await stateAt(stream)) as State,
  history: async (_stream) => recordedOf(await history()),
});
