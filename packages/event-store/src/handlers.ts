/**
 * One handler per event that concerns the listener. An event without a handler and without a stated reason to ignore it
 * does not compile. A handler of an event that only concerns others does not compile either. Projections, policies,
 * relays and consumers are declared with such handlers.
 */
import type { DomainEvent, RecordedEvent, Stream } from './event-store.ts';

/** The `data` of one type in a union of events. */
type DataOf<E extends DomainEvent, Type extends E['type']> = E extends DomainEvent
  ? Type extends E['type']
    ? E['data']
    : never
  : never;

/** The events of a stream as recorded in its log, discriminated by `type`. */
export type Recorded<E extends DomainEvent, Type extends E['type'] = E['type']> = {
  [T in Type]: Omit<RecordedEvent, 'type' | 'data'> & {
    readonly type: T;
    readonly data: DataOf<E, T>;
  };
}[Type];

/** Used instead of a handler: the event is ignored, for this reason. */
export type Ignored = { readonly ignored: string };

export const ignored = (why: string): Ignored => ({ ignored: why });

/** Types of the events that concern this listener: those that name it, and those that name no listener. */
export type ConcerningType<E extends DomainEvent, Listener extends string> = E extends DomainEvent
  ? 'concerns' extends keyof E
    ? Listener extends E['concerns']
      ? E['type']
      : never
    : E['type']
  : never;

/** A handler or a reason for each of these events. */
export type Handlers<Event extends { readonly type: string }, Handled> = {
  readonly [T in Event['type']]: Handled | Ignored;
};

/**
 * The same as `Handlers`, but for these types of events, where a handler is a function of the event and further
 * arguments.
 */
export type EventHandlers<
  E extends DomainEvent,
  Type extends E['type'],
  Rest extends readonly unknown[],
  Result,
> = {
  readonly [T in Type]: ((event: Recorded<E, T>, ...rest: Rest) => Result) | Ignored;
};

declare const total: unique symbol;
/** Marks a value that was made from handlers of all events. */
export type Total<Made> = Made & { readonly [total]: true };

/** Only the functions that require handlers of all events may call it. */
export const madeTotal = <Made>(made: Made): Total<Made> => made as Total<Made>;

export const isIgnored = (handler: object): handler is Ignored => 'ignored' in handler;

/** Handlers by event type, without the ignored ones. */
export type HandlersByType<Rest extends readonly unknown[], Result> = {
  readonly [type: string]: (event: RecordedEvent, ...rest: Rest) => Result;
};

/**
 * Takes `EventHandlers`. The cast is safe: events of a stream's type are written by that stream's decisions
 * only, and are upcast to the current version when read.
 */
export const handlersByType = <Rest extends readonly unknown[], Result>(
  handlers: object,
): HandlersByType<Rest, Result> =>
  Object.fromEntries(
    Object.entries<object>({ ...handlers }).filter(([, handler]) => !isIgnored(handler)),
  ) as HandlersByType<Rest, Result>;

/** Recorded events of these types, or of all types of the stream. A log contains events of other streams too. */
export const recordedOf = <E extends DomainEvent, Type extends E['type'] = E['type']>(
  events: readonly RecordedEvent[],
  types?: ReadonlySet<string>,
): readonly Recorded<E, Type>[] =>
  events.filter(
    (event): event is RecordedEvent & Recorded<E, Type> => types?.has(event.type) ?? true,
  );

/** The state of a stream after these events, starting from its beginning or from an earlier state. */
export const stateAfter = <State, E extends DomainEvent>(
  stream: Pick<Stream<State, E>, 'initial' | 'evolve'>,
  events: readonly RecordedEvent[],
  from = stream.initial,
): State =>
  events.reduce(
    (state, { type, data }) => stream.evolve(state, { type, data } as DomainEvent as E),
    from,
  );
