/** What a consumer makes of the events of the topics it reads: a handler or a reason for silence per type. */
import {
  type DataOf,
  type EventContext,
  type EventDeclarations,
  type IntegrationEvent,
  type ServiceName,
  topicOf,
} from '@cardea/contracts';
import { type Handlers, isIgnored, madeTotal, type Total } from '@cardea/event-store';
import type { Transaction } from '@cardea/read-models';
import type { Consumer } from '../bus.ts';

type Events = { readonly source: ServiceName; readonly declared: EventDeclarations };

type TypeIn<From extends Events> = From extends Events ? keyof From['declared'] & string : never;

/** What may come on the topics of these services, told apart by `type`; or those of some types alone. */
export type Heard<
  From extends Events,
  Type extends TypeIn<From> = TypeIn<From>,
> = From extends Events
  ? {
      [T in Type & TypeIn<From>]: Omit<IntegrationEvent, 'type' | 'data'> & {
        readonly type: T;
        readonly data: DataOf<From, T> & { readonly context: EventContext };
      };
    }[Type & TypeIn<From>]
  : never;

/** What one event comes to, in the two halves of a {@link Consumer}. */
type Effect<Event> = {
  readonly prepare?: (event: Event) => Promise<void>;
  readonly apply?: (event: Event, transaction: Transaction) => Promise<void>;
};

type EffectsOf<Event extends { readonly type: string }> = {
  readonly [Type in Event['type']]: Handlers<
    Extract<Event, { readonly type: Type }>,
    Effect<Extract<Event, { readonly type: Type }>>
  >[Type];
};

/** A consumer that has an effect per type: `from` names whose topics it reads, `on` what each event does. */
export function consumer<const From extends Events>(definition: {
  readonly name: string;
  readonly from: readonly From[];
  readonly on: EffectsOf<Heard<From>>;
  readonly onCommitted?: () => void;
}): Total<Consumer> {
  const { name, from, on, onCommitted } = definition;
  const effects = withoutIgnored<Effect<IntegrationEvent>>(on);
  return madeTotal<Consumer>({
    name,
    topics: from.map(({ source }) => topicOf(source)),
    types: [...effects.keys()],
    prepare: async (events) => {
      for (const event of events) await effects.get(event.type)?.prepare?.(event);
    },
    handle: async (events, transaction) => {
      for (const event of events) await effects.get(event.type)?.apply?.(event, transaction);
    },
    ...(onCommitted && { onCommitted }),
  });
}

/** What each event means to a consumer that takes them in batches. */
export type Meanings<Meaning> = Total<
  Required<Pick<Consumer, 'topics' | 'types'>> & {
    readonly meaningOf: (event: IntegrationEvent) => Meaning | undefined;
  }
>;

/** `meanings<Told>()([identityEvents], { 'user.created': (event) => …, 'user.updated': ignored('…') })` */
export const meanings =
  <Meaning>() =>
  <const From extends Events>(
    from: readonly From[],
    on: {
      readonly [Type in Heard<From>['type']]: Handlers<
        Extract<Heard<From>, { readonly type: Type }>,
        (event: Extract<Heard<From>, { readonly type: Type }>) => Meaning | undefined
      >[Type];
    },
  ): Meanings<Meaning> => {
    const handlers = withoutIgnored<(event: IntegrationEvent) => Meaning | undefined>(on);
    return madeTotal({
      topics: from.map(({ source }) => topicOf(source)),
      types: [...handlers.keys()],
      meaningOf: (event) => handlers.get(event.type)?.(event),
    });
  };

/** A consumer that works on batches: of the events that mean something to it, or of every one there is. */
export const batchConsumer = (
  heard: Meanings<unknown> | { readonly everyEventOf: readonly string[] },
  rest: Omit<Consumer, 'topics' | 'types'>,
): Total<Consumer> =>
  madeTotal<Consumer>({
    ...rest,
    ...('everyEventOf' in heard
      ? { topics: heard.everyEventOf }
      : { topics: heard.topics, types: heard.types }),
  });

/** The bus hands on an event of a type in the shape that its publisher declared. */
function withoutIgnored<Handler>(on: object): ReadonlyMap<string, Handler> {
  const all = Object.entries<object>({ ...on });
  return new Map(all.filter(([, handler]) => !isIgnored(handler)) as [string, object & Handler][]);
}
