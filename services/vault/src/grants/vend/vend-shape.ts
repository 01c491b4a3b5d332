/** The schemas of vending for agents (`docs/contract.md` 2.10, 4.5): bodies under `data`, codes in capitals. */
import { named, Time } from '@cardea/contracts';
import Type, { type Static } from 'typebox';

const NAMES_MAX = 50;

/**
 * The fields have no patterns. A malformed name counts as an unregistered one and does not make the request malformed.
 */
export const VendBody = Type.Object(
  {
    service_name: Type.String({ minLength: 1, maxLength: 128 }),
    fields: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      minItems: 1,
      maxItems: NAMES_MAX,
    }),
    approval_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    force_refresh: Type.Optional(Type.Boolean()),
  },
  { examples: [{ service_name: 'erp', fields: ['api_key'] }] },
);
export type VendBody = Static<typeof VendBody>;

export const Granted = Type.Object({
  data: named(
    'CredentialGrant',
    Type.Object({
      grant_id: Type.String(),
      service_name: Type.String(),
      credential_type: Type.String(),
      fields: Type.Record(Type.String(), Type.String()),
      expires_at: Time,
      session_id: Type.String(),
      granted_at: Time,
    }),
  ),
});

export const ApprovalRequired = Type.Object({
  data: named(
    'ApprovalRequired',
    Type.Object({
      approval_required: Type.Literal(true),
      approval_id: Type.String(),
      poll_url: Type.String(),
      expires_in: Type.Integer({ minimum: 0 }),
      interval: Type.Integer(),
      binding_message: Type.String(),
    }),
  ),
});

export const VEND_REFUSALS = {
  INVALID_AGENT_KEY: 401,
  INVALID_CAPABILITY_TOKEN: 401,
  CREDENTIAL_SCOPE_DENIED: 403,
  NO_APPROVER: 403,
  POLICY_DENIED: 403,
  APPROVAL_DENIED: 403,
  APPROVAL_MISMATCH: 403,
  NOT_FOUND: 404,
  SECRET_NOT_SET: 409,
  APPROVAL_CONSUMED: 409,
  APPROVAL_EXPIRED: 410,
  RATE_LIMITED: 429,
  APPROVAL_RATE_LIMITED: 429,
} as const;
export type VendRefusal = keyof typeof VEND_REFUSALS;

const INTERVAL_S = 5;

export const waitingAnswer = (waiting: {
  readonly id: string;
  readonly expires_in: number;
  readonly binding_message: string;
}): Static<typeof ApprovalRequired> => ({
  data: {
    approval_required: true,
    approval_id: waiting.id,
    poll_url: `/api/v1/ciba/token/${encodeURIComponent(waiting.id)}`,
    expires_in: waiting.expires_in,
    interval: INTERVAL_S,
    binding_message: waiting.binding_message,
  },
});
