/** What `error.details` holds, by code; a code that is not named here has no details. */
import Type, { type TSchema } from 'typebox';
import { named } from './rest.ts';

const faults = Type.Array(
  named(
    'InputFault',
    Type.Object(
      {
        field: Type.String({
          description: 'Dotted path of the field, name of the header, `query` or `body`.',
        }),
        rule: Type.String({ description: 'The rule that it breaks.' }),
      },
      { additionalProperties: false },
    ),
  ),
);
const earlierId = Type.Object(
  { id: Type.String({ description: 'Id of what the first request with this key has made.' }) },
  { additionalProperties: false },
);
const missingGrants = named(
  'MissingGrants',
  Type.Object(
    {
      missing: Type.Array(
        named(
          'MissingGrant',
          Type.Object(
            { service_name: Type.String(), fields: Type.Array(Type.String()) },
            { additionalProperties: false },
          ),
        ),
        { description: 'Services and fields that were asked for and may not be given.' },
      ),
    },
    { additionalProperties: false },
  ),
);
const fieldNames = named(
  'FieldNames',
  Type.Object(
    { fields: Type.Array(Type.String(), { description: 'The fields that it is about.' }) },
    { additionalProperties: false },
  ),
);

export const ERROR_DETAILS: { readonly [code: string]: TSchema } = {
  invalid_request: faults,
  invalid_url: faults,
  unknown_event: faults,
  model_invalid: faults,
  already_created: earlierId,
  insufficient_scope: Type.Object(
    { scope: Type.String({ description: 'The scope that the API key lacks.' }) },
    { additionalProperties: false },
  ),
  scope_not_granted: missingGrants,
  attenuation_only: missingGrants,
  CREDENTIAL_SCOPE_DENIED: fieldNames,
  SECRET_NOT_SET: fieldNames,
  NO_APPROVER: Type.Object(
    { reason: Type.Literal('approver_not_vouched') },
    { additionalProperties: false },
  ),
};
