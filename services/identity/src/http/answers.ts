/** Response shapes that several endpoints of identity share. */
import { exactText, named, Time } from '@cardea/contracts';
import Type from 'typebox';
import { profileAnswerFields } from './profile-fields.ts';

export const closed = <Properties extends Parameters<typeof Type.Object>[0]>(
  properties: Properties,
) => Type.Object(properties, { additionalProperties: false });

/** The fields of a session's tokens (`docs/contract.md` 2.2). */
export const tokenFields = {
  access_token: Type.String(),
  refresh_token: Type.String(),
  expires_in: Type.Integer(),
};

/** The response to a sign-in that creates a session. */
const signedInFields = {
  user_id: Type.String(),
  ...tokenFields,
  email_verified: Type.Boolean(),
  mfa_required: Type.Boolean(),
};
export const SignedIn = named('SignedIn', closed(signedInFields));

/** The response to a sign-in that creates no session. */
const signedInByMailFields = {
  user_id: Type.String(),
  access_token: Type.String(),
  expires_in: Type.Integer(),
};
export const SignedInByMail = named('SignedInByMail', closed(signedInByMailFields));

/** The JSON that a browser's `navigator.credentials` accepts (WebAuthn). */
export const challengeFields = {
  challenge_id: Type.String(),
  options: Type.Object({}, { additionalProperties: true }),
};
export const credentialField = named(
  'PasskeyResponse',
  Type.Object(
    {
      id: exactText(Type.String()),
      rawId: Type.String(),
      type: Type.String(),
      response: Type.Object({}, { additionalProperties: true }),
    },
    { additionalProperties: true },
  ),
);

export const SecondFactorMethod = named(
  'SecondFactorMethod',
  Type.Enum(['totp', 'recovery', 'passkey']),
);

/** Codes that were generated because a factor had to be enrolled. */
const recovery_codes = Type.Optional(Type.Array(Type.String()));
export const SignedInWithSecondFactor = Type.Union([
  named('SignedInWithSecondFactor', closed({ ...signedInFields, recovery_codes })),
  named('SignedInByMailWithSecondFactor', closed({ ...signedInByMailFields, recovery_codes })),
]);

/** The first factor was right, and a second factor is due. */
export const SecondFactorDue = named(
  'SecondFactorDue',
  closed({
    user_id: Type.String(),
    email_verified: Type.Boolean(),
    mfa_required: Type.Literal(true),
    /** The tenant requires a second factor and this user has none, so one has to be enrolled. */
    mfa_enrollment_required: Type.Optional(Type.Literal(true)),
    mfa_token: Type.String(),
    mfa_methods: Type.Array(Type.String()),
    expires_in: Type.Integer(),
  }),
);

/** The response is the same whether or not the address has an account, so it does not reveal accounts. */
export const sentFields = {
  challenge_id: Type.String(),
  status: Type.Literal('sent'),
  message: Type.String(),
};

export const message = closed({ message: Type.String() });

/** The fields of `docs/contract.md` 2.1. */
/** Metadata that administrators store with a user. */
export const metadataField = Type.Object({}, { additionalProperties: true });

export const profileFields = {
  id: Type.String(),
  email: Type.String(),
  email_verified: Type.Boolean(),
  ...profileAnswerFields,
  roles: Type.Array(Type.String()),
  created_at: Time,
};

/** Enough for a password and the fields that accompany it. */
export const PASSWORD_BODY_MAX_BYTES = 8 * 1024;

/** Uses the form of the request pipeline's own errors: the field's name and the rule. */
export const badField = (field: string, rule = 'format') =>
  ({ refused: 'invalid_request', details: [{ field, rule }] }) as const;

/** The response to a caller who exceeds a rate limit. */
export const tooOften = ({ retryAfterSeconds }: { readonly retryAfterSeconds: number }) =>
  ({
    refused: 'rate_limited',
    headers: { 'Retry-After': String(retryAfterSeconds) },
  }) as const;

/** The response to a caller with too many failed attempts. */
export const tooManyAttempts = ({ retryAfterSeconds }: { readonly retryAfterSeconds: number }) =>
  ({
    refused: 'too_many_attempts',
    headers: { 'Retry-After': String(retryAfterSeconds) },
  }) as const;
