/**
 * Errors under `/oauth2`: the body of RFC 6749, `{error, error_description}`, whose codes clients of that protocol
 * know. The description is fixed per code and quotes nothing.
 */
import type { PipelineCode, Refusal } from './refusal.ts';

/** The OAuth names of the request pipeline's own codes. */
const CODES: { readonly [code in PipelineCode]?: string } = {
  tenant_required: 'invalid_request',
  tenant_mismatch: 'invalid_request',
  unauthenticated: 'invalid_token',
  not_found: 'invalid_request',
  method_not_allowed: 'invalid_request',
  request_timeout: 'invalid_request',
  body_too_large: 'invalid_request',
  unsupported_media_type: 'invalid_request',
  rate_limited: 'temporarily_unavailable',
  internal_error: 'server_error',
  not_caught_up: 'temporarily_unavailable',
  overloaded: 'temporarily_unavailable',
  write_contention: 'temporarily_unavailable',
};

export const oauthErrorBody = ({ code, message }: Refusal) => ({
  error: oauthErrorCode(code),
  error_description: message,
});

export const oauthErrorCode = (code: string): string =>
  Object.hasOwn(CODES, code) ? (CODES[code as PipelineCode] ?? code) : code;
