/** The schemas that the endpoints of versions share: names of fields and versions, and responses. */
import { named } from '@cardea/contracts';
import Type from 'typebox';
import type { ServiceEvent } from './service.ts';
import { ByName, FIELDS_MAX } from './service-shape.ts';

/** Field names are compared byte by byte, so an unusual one is an unknown field. */
export const FIELD_NAME_FORM = '^[^\\u0000]{1,64}$';
const NUMBERS_MAX = 2 ** 31 - 1;

const byFieldName = <Value extends Type.TSchema>(value: Value, minProperties: number) =>
  Type.Record(Type.String({ pattern: FIELD_NAME_FORM }), value, {
    minProperties,
    maxProperties: FIELDS_MAX,
    additionalProperties: false,
  });
export const VersionNumber = Type.Integer({ minimum: 1, maximum: NUMBERS_MAX });
export const VersionsByField = byFieldName(VersionNumber, 1);
export const ExpectedCurrentShape = byFieldName(
  Type.Integer({ minimum: 0, maximum: NUMBERS_MAX }),
  0,
);
export const FieldNames = Type.Array(Type.String({ pattern: FIELD_NAME_FORM }), {
  minItems: 1,
  maxItems: FIELDS_MAX,
  uniqueItems: true,
});
const OfField = { ...ByName.properties, field: Type.String({ minLength: 1, maxLength: 64 }) };
export const ByField = Type.Object(OfField);
/** A number that no version can have counts as an unknown version. */
export const ByVersion = Type.Object({
  ...OfField,
  version: Type.String({ minLength: 1, maxLength: 10 }),
});

/** The number in a path, or undefined if it is none. */
export const versionNumber = (text: string): number | undefined =>
  /^[1-9]\d{0,9}$/.test(text) ? Number(text) : undefined;

export const CurrentChangedShape = Type.Object({
  service_name: Type.String(),
  fields: Type.Array(
    named(
      'CurrentSecretVersion',
      Type.Object({
        name: Type.String(),
        version: Type.Integer({ minimum: 1 }),
        /** The version that was current before. Null if none was, or nothing changed. */
        replaced: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
      }),
    ),
  ),
});

/** The fields whose current version these events changed. */
export const changedFields = (events: readonly ServiceEvent[]) =>
  events.flatMap(({ type, data }) =>
    type === 'SecretVersionPromoted' || type === 'SecretRolledBack'
      ? [{ name: data.field, version: data.version, replaced: data.replaced }]
      : [],
  );
