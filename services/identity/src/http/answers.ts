/** Shapes that several answers of identity share. */
import { Time } from '@cardea/contracts';
import Type from 'typebox';

export const closed = <Properties extends Parameters<typeof Type.Object>[0]>(
  properties: Properties,
) => Type.Object(properties, { additionalProperties: false });

/** `docs/contract.md` 2.2: what a session's tokens look like. */
export const tokenFields = {
  access_token: Type.String(),
  refresh_token: Type.String(),
  expires_in: Type.Integer(),
};

/** Of a sign-in that leaves no session. */
export const accessTokenFields = {
  user_id: Type.String(),
  access_token: Type.String(),
  expires_in: Type.Integer(),
};

/** What was asked for is on its way, if anybody has the address. */
export const sentFields = {
  challenge_id: Type.String(),
  status: Type.Literal('sent'),
  message: Type.String(),
};

export const message = closed({ message: Type.String() });

/** `docs/contract.md` 2.1. */
export const profileFields = {
  id: Type.String(),
  email: Type.String(),
  email_verified: Type.Boolean(),
  display_name: Type.Union([Type.String(), Type.Null()]),
  avatar_url: Type.Union([Type.String(), Type.Null()]),
  roles: Type.Array(Type.String()),
  created_at: Time,
};

/** A password and what belongs to it never need more. */
export const PASSWORD_BODY_MAX_BYTES = 8 * 1024;

/** An agent on a user's own endpoint. */
export const USERS_ONLY = {
  agent: { status: 401, code: 'user_session_required' },
} as const;

/** As the door spells its own faults: the field's name and the rule. */
export const badField = (field: string, rule = 'format') =>
  ({ refused: 'invalid_request', details: [{ field, rule }] }) as const;

/** The answer to whoever asks too often. */
export const tooOften = ({ retryAfterSeconds }: { readonly retryAfterSeconds: number }) =>
  ({
    refused: 'rate_limited',
    headers: { 'Retry-After': String(retryAfterSeconds) },
  }) as const;

/** The answer to whoever was wrong too often. */
export const tooManyAttempts = ({ retryAfterSeconds }: { readonly retryAfterSeconds: number }) =>
  ({
    refused: 'too_many_attempts',
    headers: { 'Retry-After': String(retryAfterSeconds) },
  }) as const;
