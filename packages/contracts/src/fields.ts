/**
 * Fields of what is published: each says what it holds and shows an example, for the documents that
 * subscribers read are made of these values (`npm run events`).
 */
import Type, { type TSchema } from 'typebox';

/** What a type says has happened, in one sentence, and its fields; nothing undeclared beside them. */
export const fact = <Properties extends Record<string, TSchema>>(
  meaning: string,
  properties: Properties,
) => Type.Object(properties, { additionalProperties: false, description: meaning });

export const text = (description: string, example: string) =>
  Type.String({ description, examples: [example] });

/** Opaque: compared, never looked into. */
export const id = (description: string) =>
  Type.String({ description, examples: ['01a1ff78-5d3c-7b7e-9c3e-6f2d1b0a4c55'] });

export const moment = (description: string) =>
  Type.String({ description: `${description} RFC 3339.`, examples: [EXAMPLE_MOMENT] });

/** As `moment`, and checked to be one. */
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

/** The value or null: unknown, or there is none. */
export const nullable = <Schema extends TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);

/** Names the person or where they are: sealed in the service's own event, null here once erased. */
export const erasable = <Schema extends TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Null()], { [PERSONAL_DATA]: 'erasable' satisfies PersonalData });

/** Derived from something sealed: says nothing any more once that is erased. */
export const derived = <Schema extends TSchema>(schema: Schema): Schema => ({
  ...schema,
  [PERSONAL_DATA]: 'derived' satisfies PersonalData,
});

/** Where a request came from: sealed per tenant and day, null here once that day's key is dropped. */
export const lapsing = <Schema extends TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Null()], { [PERSONAL_DATA]: 'lapsing' satisfies PersonalData });

/** Written by people or their programs and never erased: callers are asked for no personal data in it. */
export const freeText = <Schema extends TSchema>(schema: Schema): Schema => ({
  ...schema,
  [PERSONAL_DATA]: 'free-text' satisfies PersonalData,
});

/** The keyword of a field that says something about a person, and what becomes of it. */
export const PERSONAL_DATA = 'x-personal-data';
export type PersonalData = 'erasable' | 'derived' | 'lapsing' | 'free-text';

const EXAMPLE_MOMENT = '2026-11-21T20:15:22.104Z';
