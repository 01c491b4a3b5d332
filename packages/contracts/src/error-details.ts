/** The contents of `error.details` by code. A code that is not listed has no details. */
import Type, { type TSchema } from 'typebox';
import { named, Time } from './rest.ts';

const fault = named(
  'InputFault',
  Type.Object(
    {
      field: Type.String({
        description: 'Dotted path of the field, name of the header, `query` or `body`.',
      }),
      rule: Type.String({ description: 'The rule that the value breaks.' }),
      allowed: Type.Optional(
        Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]), {
          description: 'The allowed values, where they are few enough to be listed.',
        }),
      ),
      limit: Type.Optional(
        Type.Number({ description: 'The bound of a rule such as `max_length` or `min_items`.' }),
      ),
    },
    { additionalProperties: false },
  ),
);
const faults = Type.Array(fault);
const earlierId = Type.Object(
  {
    id: Type.String({
      description: 'Id of the object that the first request with this key created.',
    }),
  },
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
        { description: 'Requested services and fields that may not be granted.' },
      ),
    },
    { additionalProperties: false },
  ),
);
const fieldNames = named(
  'FieldNames',
  Type.Object(
    { fields: Type.Array(Type.String(), { description: 'The fields to which the error refers.' }) },
    { additionalProperties: false },
  ),
);

export const ERROR_DETAILS: { readonly [code: string]: TSchema } = {
  invalid_request: faults,
  tenant_required: faults,
  invalid_consistency_token: faults,
  invalid_email: faults,
  invalid_state: faults,
  invalid_subject_token: faults,
  password_too_short: faults,
  password_too_long: faults,
  password_too_weak: faults,
  password_breached: faults,
  password_reused: faults,
  unknown_role: faults,
  unknown_approver: faults,
  unknown_field: faults,
  unsupported_credential_type: faults,
  invalid_redirect_uri: fault,
  invalid_url: faults,
  unknown_event: faults,
  invalid_scope: faults,
  model_invalid: faults,
  already_created: earlierId,
  insufficient_scope: Type.Object(
    { scope: Type.String({ description: 'The scope that the API key or application lacks.' }) },
    { additionalProperties: false },
  ),
  scope_not_granted: missingGrants,
  delegation_required: Type.Object(
    {
      agent_id: Type.String({ description: 'The agent to which the user has to delegate.' }),
      services: Type.Array(
        Type.Object(
          { service_name: Type.String(), fields: Type.Array(Type.String()) },
          { additionalProperties: false },
        ),
        {
          description:
            'Services and fields that the session requested; the delegation has to cover them.',
        },
      ),
      endpoint: Type.String({
        description: 'Method and path of the endpoint by which the user delegates.',
      }),
    },
    { additionalProperties: false },
  ),
  attenuation_only: missingGrants,
  CREDENTIAL_SCOPE_DENIED: named(
    'FieldsDenied',
    Type.Object(
      {
        fields: Type.Array(Type.String(), { description: 'The fields to which the error refers.' }),
        request_access: Type.Optional(
          Type.String({
            description:
              'Method and path of the endpoint by which the agent asks for them; absent where the tenant does not let agents ask.',
          }),
        ),
      },
      { additionalProperties: false },
    ),
  ),
  SECRET_NOT_SET: fieldNames,
  nothing_to_roll_back: fieldNames,
  slug_taken: Type.Object(
    { free_at: Time },
    {
      additionalProperties: false,
      description: 'For a closed tenant of the organization: when its slug is free.',
    },
  ),
  NO_APPROVER: Type.Object(
    { reason: Type.Enum(['approver_not_vouched', 'too_many', 'nobody_holds', 'approver_lost']) },
    { additionalProperties: false },
  ),
  no_approver: Type.Object(
    { reason: Type.Enum(['too_many', 'nobody_holds', 'approver_lost']) },
    { additionalProperties: false },
  ),
};

type Cause = { readonly fields: readonly string[]; readonly rule: string };

/**
 * Codes of status 400 that always concern the same field. The request pipeline adds the fault to refusals without
 * details. If several fields are listed, it names the first one that the endpoint accepts.
 */
export const FAULTS_BY_CODE: { readonly [code: string]: Cause } = {
  tenant_required: { fields: ['X-Service-Tenant'], rule: 'required' },
  invalid_consistency_token: { fields: ['X-Service-Consistency'], rule: 'form' },
  invalid_email: { fields: ['email', 'admin_email'], rule: 'format' },
  invalid_state: { fields: ['state'], rule: 'unknown' },
  invalid_subject_token: { fields: ['subject_token'], rule: 'live' },
  password_too_short: { fields: ['new_password', 'password'], rule: 'min_length' },
  password_too_long: { fields: ['new_password', 'password'], rule: 'max_length' },
  password_too_weak: { fields: ['new_password', 'password'], rule: 'strength' },
  password_breached: { fields: ['new_password', 'password'], rule: 'breached' },
  password_reused: { fields: ['new_password', 'password'], rule: 'reused' },
  unknown_approver: { fields: ['approver'], rule: 'known' },
};
