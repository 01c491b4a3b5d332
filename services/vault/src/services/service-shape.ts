/** The schemas of services for administrators: metadata, never a value. */
import { NullableTime, named, Time } from '@cardea/contracts';
import Type, { type Static } from 'typebox';
import { currentOf, type Service, type ServiceRecord } from './service.ts';

export const FIELDS_MAX = 50;
const DESCRIPTION_MAX = 500;
const TTL_MIN_S = 30;
const TTL_MAX_S = 86_400;
export const TTL_DEFAULT_S = 900;
export const TTL_LIMIT_DEFAULT_S = 3_600;

export const ServiceName = Type.String({
  pattern: '^[a-z][a-z0-9_-]{1,62}$',
  examples: ['erp'],
});
/** Excludes names that no JSON body may have as a key, which therefore could never get a secret. */
export const FieldName = Type.String({
  pattern: '^(?!(?:constructor|prototype)$)[a-z][a-z0-9_]{0,63}$',
  examples: ['api_key'],
});
const Description = Type.Union([Type.String({ maxLength: DESCRIPTION_MAX }), Type.Null()]);
const Ttl = Type.Integer({ minimum: TTL_MIN_S, maximum: TTL_MAX_S });

/** The fields that can be set at registration and changed later. */
export const changeable = {
  description: Type.Optional(Description),
  default_ttl_seconds: Type.Optional(Ttl),
  max_ttl_seconds: Type.Optional(Ttl),
  enabled: Type.Optional(Type.Boolean()),
  reveal: Type.Optional(Type.Boolean()),
};
export const Fields = Type.Array(
  named(
    'VaultFieldDefinition',
    Type.Object({ name: FieldName, description: Type.Optional(Description) }),
  ),
  { minItems: 1, maxItems: FIELDS_MAX },
);

const NullableText = Type.Union([Type.String(), Type.Null()]);
export const ServiceShape = named(
  'VaultService',
  Type.Object({
    id: Type.String(),
    name: Type.String(),
    credential_type: Type.Literal('static'),
    description: NullableText,
    fields: Type.Array(
      named(
        'VaultField',
        Type.Object({
          name: Type.String(),
          description: NullableText,
          /** Whether there is a current version. */
          set: Type.Boolean(),
          version: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
          updated_at: NullableTime,
        }),
      ),
    ),
    default_ttl_seconds: Type.Integer(),
    max_ttl_seconds: Type.Integer(),
    enabled: Type.Boolean(),
    reveal: Type.Boolean(),
    created_at: Time,
  }),
);
export type ServiceShape = Static<typeof ServiceShape>;

/** Finds by name, compared byte by byte. A malformed name counts as unknown. */
export const ByName = Type.Object({ name: Type.String({ minLength: 1, maxLength: 128 }) });

export const shownService = (record: ServiceRecord): ServiceShape => {
  const { id, name, credential_type, description, default_ttl_seconds, max_ttl_seconds } = record;
  const { enabled, reveal, created_at } = record;
  return {
    id,
    name,
    credential_type,
    description,
    fields: record.fields.map((field) => {
      const current = currentOf(field);
      return {
        name: field.name,
        description: field.description,
        set: current !== undefined,
        version: current?.version ?? null,
        updated_at: current?.created_at ?? null,
      };
    }),
    default_ttl_seconds,
    max_ttl_seconds,
    enabled,
    reveal,
    created_at,
  };
};

/** The refusal of a list that names a field twice. */
export const DOUBLED_FIELDS = {
  refused: 'invalid_request',
  details: [{ field: 'fields', rule: 'unique' }],
} as const;

/** The fields of a service that is registered. */
export const fieldsOf = (service: Service) =>
  service.status === 'registered' ? service.record.fields : [];

/** Names each part of a request with a field that the service lacks, and lists the fields that it has. */
export function unknownFields(
  fields: readonly { readonly name: string }[],
  request: { readonly [part: string]: readonly string[] },
) {
  const allowed = fields.map(({ name }) => name);
  const details = Object.entries(request).flatMap(([field, names]) =>
    names.every((name) => allowed.includes(name)) ? [] : [{ field, rule: 'unknown', allowed }],
  );
  return { refused: 'unknown_field', details } as const;
}

/** The refusal of a service whose usual lifetime is longer than its longest. */
export const LIFETIME_TOO_LONG = {
  refused: 'invalid_request',
  details: [{ field: 'default_ttl_seconds', rule: 'at_most_max_ttl_seconds' }],
} as const;

export const hasDoubles = (fields: readonly { readonly name: string }[]): boolean =>
  new Set(fields.map(({ name }) => name)).size !== fields.length;
