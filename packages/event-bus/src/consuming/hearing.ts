/**
 * Declares what a consumer does with the events of its topics: for each type that concerns it a handler, or a
 * reason to ignore it.
 */
import {
  type ConcernsOf,
  type DataOf,
  type EventContext,
  type EventDeclarations,
  type IntegrationEvent,
  type ServiceName,
  topicOf,
} from '@cardea/contracts';
import { type Handlers, isIgnored, madeTotal, type Total } from '@cardea/event-store';
import {
  type RowTarget,
  rowStatements,
  type Statement,
  type TableWrite,
} from '@cardea/read-models';
import type { Consumer } from '../bus.ts';

type Events = { readonly source: ServiceName; readonly declared: EventDeclarations };

type TypeIn<From extends Events> = From extends Events ? keyof From['declared'] & string : never;

/** The events that may arrive on the topics of these services, or some types of them, discriminated by `type`. */
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

/** Types of the events that concern this reader: those that name it, and those that name no service. */
type ConcerningType<From extends Events, Reader extends string> = From extends Events
  ? {
      [T in TypeIn<From>]: Reader extends ConcernsOf<From, T> ? T : never;
    }[TypeIn<From>]
  : never;

type Concerning<From extends Events, Reader extends string> = Heard<
  From,
  Extract<ConcerningType<From, Reader>, TypeIn<From>>
>;

type RowWrite = TableWrite | Statement;

/** The effect of one event: `prepare` as in {@link Consumer}, and what writes its rows. */
type Effect<Event> = {
  readonly prepare?: (event: Event) => Promise<void>;
  readonly apply?: (event: Event) => RowWrite | readonly RowWrite[];
};

type EffectsOf<Event extends { readonly type: string }> = {
  readonly [Type in Event['type']]: Handlers<
    Extract<Event, { readonly type: Type }>,
    Effect<Extract<Event, { readonly type: Type }>>
  >[Type];
};

const NO_ROWS: RowTarget = { schema: '', tables: [] };

/**
 * A consumer with one effect per type: `from` names the services whose topics it reads, `on` the effect of
 * each event that concerns it.
 */
export function consumer<const From extends Events, const Name extends string>(definition: {
  readonly name: Name;
  readonly from: readonly From[];
  readonly on: EffectsOf<Concerning<From, Name>>;
  /** The tables whose rows `apply` writes. */
  readonly rows?: RowTarget;
  /** The same as in {@link Consumer}. */
  readonly onCommitted?: (events: readonly Heard<From>[]) => void;
}): Total<Consumer> {
  const { name, from, on, rows = NO_ROWS, onCommitted } = definition;
  const effects = withoutIgnored<Effect<IntegrationEvent>>(on);
  const typesWith = (half: keyof Effect<IntegrationEvent>): readonly string[] =>
    [...effects].flatMap(([type, effect]) => (effect[half] === undefined ? [] : [type]));
  return madeTotal<Consumer>({
    name,
    topics: from.map(({ source }) => topicOf(source)),
    types: [...effects.keys()],
    preparedTypes: typesWith('prepare'),
    appliedTypes: typesWith('apply'),
    prepare: async (events) => {
      for (const event of events) await effects.get(event.type)?.prepare?.(event);
    },
    statements: (events) =>
      rowStatements(
        rows,
        events.flatMap((event) => effects.get(event.type)?.apply?.(event) ?? []),
      ),
    ...(onCommitted && { onCommitted: (events) => onCommitted(events as never) }),
  });
}

/** The meaning of each event type, for a consumer that processes batches. */
export type Meanings<Meaning> = Total<
  Required<Pick<Consumer, 'name' | 'topics' | 'types'>> & {
    readonly meaningOf: (event: IntegrationEvent) => Meaning | undefined;
  }
>;

/** Example: `meanings<Payload>()('webhooks', [identityEvents], { 'user.created': (event) => …, … })`. */
export const meanings =
  <Meaning>() =>
  <const From extends Events, const Reader extends string>(
    name: Reader,
    from: readonly From[],
    on: {
      readonly [Type in Concerning<From, Reader>['type']]: Handlers<
        Extract<Heard<From>, { readonly type: Type }>,
        (event: Extract<Heard<From>, { readonly type: Type }>) => Meaning | undefined
      >[Type];
    },
  ): Meanings<Meaning> => {
    const handlers = withoutIgnored<(event: IntegrationEvent) => Meaning | undefined>(on);
    return madeTotal({
      name,
      topics: from.map(({ source }) => topicOf(source)),
      types: [...handlers.keys()],
      meaningOf: (event) => handlers.get(event.type)?.(event),
    });
  };

/** A consumer of batches: of the events that have a meaning, or of all events. */
export const batchConsumer = (
  heard: Meanings<unknown> | { readonly name: string; readonly everyEventOf: readonly string[] },
  rest: Omit<Consumer, 'name' | 'topics' | 'types'>,
): Total<Consumer> =>
  madeTotal<Consumer>({
    ...rest,
    name: heard.name,
    ...('everyEventOf' in heard
      ? { topics: heard.everyEventOf }
      : { topics: heard.topics, types: heard.types }),
  });

/** The bus only delivers data that fits the schema that its publisher declared. */
function withoutIgnored<Handler>(on: object): ReadonlyMap<string, Handler> {
  const all = Object.entries<object>({ ...on });
  return new Map(all.filter(([, handler]) => !isIgnored(handler)) as [string, object & Handler][]);
}
