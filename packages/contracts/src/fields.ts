/**
 * Fields of published events. Each has a description and an example, because the documents for subscribers
 * are generated from these values (`npm run events`).
 */
import Type, { type TObject, type TSchema } from 'typebox';
import type { ServiceName } from './envelope.ts';

/** One event type: the schema of its `data`, and the services that it concerns. */
export type Fact<
  Properties extends Record<string, TSchema> = Record<string, TSchema>,
  Service extends ServiceName = ServiceName,
> = { readonly schema: TObject<Properties>; readonly concerns: readonly Service[] };

/**
 * Declares one event type by a sentence about what happened, the services that it concerns, and its fields. No other
 * field is allowed. The consumer of each named service has to handle the event, and no other consumer may. The audit
 * log receives every event, so an event that concerns nothing else names `audit`.
 */
export const fact = <const Service extends ServiceName, Properties extends Record<string, TSchema>>(
  meaning: string,
  concerns: readonly Service[],
  properties: Properties,
): Fact<Properties, Service> => ({
  schema: Type.Object(properties, { additionalProperties: false, description: meaning }),
  concerns,
});

export const text = (description: string, example: string) =>
  Type.String({ description, examples: [example] });

/** An opaque id, only for comparison. */
export const id = (description: string) =>
  Type.String({ description, examples: ['01a1ff78-5d3c-7b7e-9c3e-6f2d1b0a4c55'] });

export const moment = (description: string) =>
  Type.String({ description: `${description} RFC 3339.`, examples: [EXAMPLE_MOMENT] });

/** Works like `moment`, and also checks that the time is valid. */
export const instant = (description: string) =>
  Type.String({
    format: 'date-time',
    description: `${description} RFC 3339.`,
    examples: [EXAMPLE_MOMENT],
  });

export const texts = (description: string, ...examples: readonly string[]) =>
  Type.Array(Type.String(), { description, examples: [examples] });

export const number = (description: string, atLeast?: number) =>
  Type.Integer({ description, ...(atLeast === undefined ? {} : { minimum: atLeast }) });

export const flag = (description: string) => Type.Boolean({ description });

export const oneOf = <const Values extends string[]>(
  values: readonly [...Values],
  description: string,
) => Type.Enum(values, { description });

/** The value, or null if it is unknown or missing. */
export const nullable = <Schema extends TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);

/** A field that identifies a person or a place: encrypted in the service's own event, null here after its erasure. */
export const erasable = <Schema extends TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Null()], { [PERSONAL_DATA]: 'erasable' satisfies PersonalData });

/** A field that is derived from an encrypted field and contains no information after that field's erasure. */
export const derived = <Schema extends TSchema>(schema: Schema): Schema => ({
  ...schema,
  [PERSONAL_DATA]: 'derived' satisfies PersonalData,
});

/** The origin of a request, encrypted under a key per tenant and day. Null after that key's erasure. */
export const lapsing = <Schema extends TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Null()], { [PERSONAL_DATA]: 'lapsing' satisfies PersonalData });

/** Text that users or their programs write and that is never erased. The API tells them to enter no personal data. */
export const freeText = <Schema extends TSchema>(schema: Schema): Schema => ({
  ...schema,
  [PERSONAL_DATA]: 'free-text' satisfies PersonalData,
});

/** The JSON Schema keyword of a field with personal data. Its value states how the field is erased, if at all. */
export const PERSONAL_DATA = 'x-personal-data';
export type PersonalData = 'erasable' | 'derived' | 'lapsing' | 'free-text';

const EXAMPLE_MOMENT = '2026-11-21T20:15:22.104Z';
