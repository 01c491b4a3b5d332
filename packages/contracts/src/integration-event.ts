import Type, { type Static, type TObject } from 'typebox';
import { Compile } from 'typebox/compile';
import { contextSchema } from './context.ts';
import type { EventContext, IntegrationEvent, ServiceName } from './envelope.ts';
import type { Fact } from './fields.ts';

/**
 * Declares the events that a service publishes: for each type the schema of its `data`, which is closed
 * and to which `context` is added. An array declares versions 1, 2, … of one type. The meaning of a type
 * never changes: a new meaning needs a new type, and a field that is added later is optional. A field that
 * is encrypted in the service's own event may be null here, because the relay may run after the erasure
 * (`erasable`, `fields.ts`). The documents for subscribers are generated from these declarations, so every
 * type and every field has a description.
 *
 *     export const identityEvents = integrationEvents('identity', {
 *       'user.created': fact('An account was made.', {
 *         id: id('The user.'),
 *         email: erasable(text('The address.', 'ann@example.com')),
 *       }),
 *     });
 *     type UserCreated = DataOf<typeof identityEvents, 'user.created'>;
 *
 * One file per service (`identity.ts`, `authz.ts`, …), each exported by `index.ts` and listed in
 * `catalogue.ts`. A relay's mapper returns `{ type: 'user.created', data }` without `context`.
 */
export const integrationEvents = <const Declared extends EventDeclarations>(
  source: ServiceName,
  declared: Declared,
): IntegrationEvents<Declared> => {
  const kinds = new Map<string, IntegrationEventKind>();
  for (const [type, schemas] of Object.entries(declared)) {
    for (const [index, schema] of versionsOf(schemas).entries()) {
      const kind = integrationEventKind(source, type, index + 1, schema);
      kinds.set(kindKey(type, kind.version), kind);
    }
  }
  return {
    source,
    declared,
    types: Object.keys(declared) as (keyof Declared & string)[],
    kinds: [...kinds.values()],
    kind: (type, version) => kinds.get(kindKey(type, version)),
    dataOf: (event, type) =>
      event.source === source && event.type === type ? (event.data as never) : undefined,
  };
};

/**
 * A bare schema declares an event without the services that it concerns. Then each service that reads the topic has to
 * handle it.
 */
type Declaration = TObject | Fact;
export type EventDeclarations = { readonly [type: string]: Declaration | readonly Declaration[] };

/** One version of one type. Its two validators are compiled on first use. */
export type IntegrationEventKind = {
  readonly source: ServiceName;
  readonly type: string;
  readonly version: number;
  /** One sentence about what happened: the declaration's `description`. */
  readonly meaning: string;
  /** The closed schema with `context`, which is in the documents and which the relay checks. */
  readonly schema: TObject;
  /** The relay uses this check. It returns true when `data` is exactly as declared. */
  readonly mayBePublished: (data: unknown) => boolean;
  /**
   * Consumers use this check. It returns true when `data` is as declared or has further fields, which a newer release
   * may add.
   */
  readonly canBeRead: (data: unknown) => boolean;
  /** The locations of faults in `data`: JSON pointers and rule names, without any value. */
  readonly faults: (data: unknown) => readonly string[];
};

/** All events that one service publishes. */
export type IntegrationEvents<Declared extends EventDeclarations = EventDeclarations> = {
  readonly source: ServiceName;
  readonly declared: Declared;
  readonly types: readonly (keyof Declared & string)[];
  readonly kinds: readonly IntegrationEventKind[];
  readonly kind: (type: string, version: number) => IntegrationEventKind | undefined;
  /** The `data` of an event of this type. Undefined when the event is of another type. */
  readonly dataOf: <Type extends keyof Declared & string>(
    event: IntegrationEvent,
    type: Type,
  ) => (DataIn<Declared, Type> & { readonly context: EventContext }) | undefined;
};

/**
 * The `data` of a type in its newest version, without `context`, e.g. `DataOf<typeof identityEvents, 'user.created'>`.
 */
export type DataOf<
  Events extends { readonly declared: EventDeclarations },
  Type extends keyof Events['declared'] & string,
> = DataIn<Events['declared'], Type>;

/**
 * The services that an event of this type concerns, in addition to the audit log. If it names none, it concerns every
 * reader.
 */
export type ConcernsOf<
  Events extends { readonly declared: EventDeclarations },
  Type extends keyof Events['declared'] & string,
> =
  Newest<Events['declared'][Type]> extends { readonly concerns: readonly (infer Reader)[] }
    ? Reader
    : string;

type DataIn<Declared extends EventDeclarations, Type extends keyof Declared> = Static<
  SchemaOf<Newest<Declared[Type]>>
>;
type Newest<Declared> = Declared extends readonly [...unknown[], infer Last] ? Last : Declared;
type SchemaOf<Declared> = Declared extends { readonly schema: infer Schema extends TObject }
  ? Schema
  : Declared extends TObject
    ? Declared
    : never;

type Annotations = { readonly description?: string };

const FAULTS_MAX = 20;

const integrationEventKind = (
  source: ServiceName,
  type: string,
  version: number,
  declared: TObject,
): IntegrationEventKind => {
  if (!/^[a-z][a-z_]*(\.[a-z][a-z_]*)+$/.test(type)) throw new Error(`not a dotted type: ${type}`);
  if ('context' in declared.properties) throw new Error(`${type}: context is added of itself`);
  const { description: meaning = '' } = declared as Annotations;
  const schema = Type.Object(
    { ...declared.properties, context: contextSchema },
    { additionalProperties: false },
  );
  const closed = once(() => Compile(schema));
  const open = once(() => Compile(opened(schema) as TObject));
  return {
    source,
    type,
    version,
    meaning,
    schema,
    mayBePublished: (data) => closed().Check(data),
    canBeRead: (data) => open().Check(data),
    faults: (data) =>
      closed()
        .Errors(data)
        .slice(0, FAULTS_MAX)
        .map((fault) => `${fault.instancePath} ${fault.keyword}`),
  };
};

/** The same schema with every closed object opened. */
const opened = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(opened);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([keyword, value]) => !(keyword === 'additionalProperties' && value === false))
      .map(([keyword, value]) => [keyword, opened(value)]),
  );
};

const versionsOf = (declared: Declaration | readonly Declaration[]): readonly TObject[] =>
  (isVersions(declared) ? declared : [declared]).map((one) =>
    'concerns' in one ? one.schema : one,
  );

const isVersions = (
  declared: Declaration | readonly Declaration[],
): declared is readonly Declaration[] => Array.isArray(declared);

const kindKey = (type: string, version: number) => `${type}@${version}`;

const once = <T>(make: () => T): (() => T) => {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
};
