/**
 * A refused request as a value. Refusals of the request pipeline, of handlers and of failed dependencies
 * all have this form, and one function writes them.
 */
import type { Contract } from './endpoint.ts';

export type Refusal = {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly details?: object | undefined;
  readonly headers?: { readonly [name: string]: string } | undefined;
};

/** One fault of an input; names the field and the rule, never the value. */
export type Fault = { readonly field: string; readonly rule: string };

/** Thrown by queues and limits that are full; answered with 503 `overloaded`. */
export class Overloaded extends Error {
  override readonly name = 'Overloaded';
  readonly retryAfterSeconds: number;
  constructor(message: string, retryAfterSeconds = 1) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export const PIPELINE_STATUS = {
  invalid_request: 400,
  tenant_required: 400,
  invalid_consistency_token: 400,
  unauthenticated: 401,
  forbidden: 403,
  insufficient_scope: 403,
  tenant_mismatch: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  body_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal_error: 500,
  not_caught_up: 503,
  overloaded: 503,
  temporarily_unavailable: 503,
  write_contention: 503,
} as const;
export type PipelineCode = keyof typeof PIPELINE_STATUS;

const MESSAGES: Readonly<Record<PipelineCode, string>> = {
  invalid_request: 'The request is not of the form that this endpoint takes.',
  tenant_required: 'The header X-Service-Tenant must name one tenant.',
  invalid_consistency_token: 'The header X-Service-Consistency holds no token of ours.',
  unauthenticated: 'A valid credential is required.',
  forbidden: 'The caller may not do this.',
  insufficient_scope: 'The API key lacks a scope.',
  tenant_mismatch: 'The tenant is not the one of the credential.',
  not_found: 'Nothing is here.',
  method_not_allowed: 'This path does not take this method.',
  request_timeout: 'The request did not arrive in time.',
  body_too_large: 'The body is too large.',
  unsupported_media_type: 'The body must be application/json in UTF-8, without content encoding.',
  rate_limited: 'Rate limited.',
  internal_error: 'Something went wrong on our side.',
  not_caught_up: 'This replica has not caught up yet.',
  overloaded: 'Too much to do at the moment.',
  temporarily_unavailable: 'A part that this needs is away at the moment.',
  write_contention: 'Others were changing the same thing.',
};

export const refusalOf = (
  code: PipelineCode,
  more: Omit<Partial<Refusal>, 'code'> = {},
): Refusal => ({
  status: PIPELINE_STATUS[code],
  code,
  message: MESSAGES[code],
  ...more,
});

export const invalid = (...faults: readonly Fault[]): Refusal =>
  refusalOf('invalid_request', faults.length > 0 ? { details: faults } : {});

/** `request_not_pending` becomes `Request not pending.`; for handlers that give no message of their own. */
export function messageOf(code: string): string {
  if (code in MESSAGES) return MESSAGES[code as PipelineCode];
  const words = code.toLowerCase().replaceAll('_', ' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

/** The request pipeline's code as this endpoint's document spells it. */
export function inEndpointCodes(refusal: Refusal, contract: Contract): Refusal {
  const named = contract.pipelineCodes?.[refusal.code];
  if (named !== undefined) return { ...refusal, code: named };
  return contract.upperCaseCodes === true
    ? { ...refusal, code: refusal.code.toUpperCase() }
    : refusal;
}

const BY_NAME: { readonly [errorName: string]: PipelineCode } = {
  EventStoreUnavailable: 'temporarily_unavailable',
  DatabaseUnavailable: 'temporarily_unavailable',
  CacheUnavailable: 'temporarily_unavailable',
  BusUnavailable: 'temporarily_unavailable',
  PeerUnavailable: 'temporarily_unavailable',
  UnexpectedAnswer: 'temporarily_unavailable',
  WriteContention: 'write_contention',
  NotCaughtUp: 'not_caught_up',
  Overloaded: 'overloaded',
};
const CAUSES_MAX = 5;
/** SQLSTATEs of a server that is unavailable, stopping, starting or full. */
const SERVER_AWAY = /^(08...|57P0[1-5]|53300|25006)$/;
const SOCKET_AWAY = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT']);

/** The only place where a throw becomes a response: 503 for an unavailable dependency, else 500. */
export function refusalOfThrow(thrown: unknown): Refusal {
  let error = thrown;
  for (let depth = 0; depth < CAUSES_MAX && error instanceof Error; depth += 1) {
    const code = codeOfError(error);
    if (code !== undefined) {
      const seconds = (error as { retryAfterSeconds?: unknown }).retryAfterSeconds;
      const wait = typeof seconds === 'number' && seconds > 0 ? Math.ceil(seconds) : 1;
      return refusalOf(code, { headers: { 'Retry-After': String(wait) } });
    }
    error = error.cause;
  }
  return refusalOf('internal_error');
}

/** Names and codes of an error and its causes, outermost first, without any of their texts. */
export function reasonOf(thrown: unknown): string {
  const said: string[] = [];
  let error = thrown;
  for (let depth = 0; depth < CAUSES_MAX && error instanceof Error; depth += 1) {
    const { code } = error as { code?: unknown };
    said.push(typeof code === 'string' ? `${error.name} ${code}` : error.name);
    error = error.cause;
  }
  return said.join(', caused by ');
}

function codeOfError(error: Error): PipelineCode | undefined {
  const named = Object.hasOwn(BY_NAME, error.name) ? BY_NAME[error.name] : undefined;
  if (named !== undefined) return named;
  const { code } = error as { code?: unknown };
  if (typeof code !== 'string') return undefined;
  return SERVER_AWAY.test(code) || SOCKET_AWAY.has(code) ? 'temporarily_unavailable' : undefined;
}
