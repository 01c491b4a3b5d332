/** Refusals of the request pipeline, of handlers and of failed dependencies: one function writes them all. */
import { FAULTS_BY_CODE } from '@cardea/contracts';
import { sqlConditionOf } from '@cardea/runtime';
import type { Contract } from '../contract/contract.ts';
import type { Refusal } from '../contract/endpoint.ts';
import { errorAndCauses } from './error-causes.ts';

export type { Refusal };

/** One fault of an input. It names the field and the rule, never the value. */
export type Fault = {
  readonly field: string;
  readonly rule: string;
  /** The values that the field accepts, for the rule `enum`. */
  readonly allowed?: readonly (string | number | boolean | null)[];
  /** The limit of a rule such as `max_length`. */
  readonly limit?: number;
};

/** Thrown by full queues and limits. Answered with 503 `overloaded`. */
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
  step_up_required: 401,
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
  step_up_required: 'This call requires a recent sign-in: POST /api/v1/auth/step-up.',
  forbidden: 'The caller may not do this.',
  insufficient_scope: 'The caller lacks a scope.',
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
  details: faultsByCode(code),
  ...more,
});

/** The faults that a code alone implies for the fields of a request. */
export function faultsByCode(
  code: string,
  contract?: Pick<Contract, 'body' | 'query'>,
): readonly Fault[] | undefined {
  const cause = Object.hasOwn(FAULTS_BY_CODE, code) ? FAULTS_BY_CODE[code] : undefined;
  if (cause === undefined) return undefined;
  const { fields, rule } = cause;
  const taken = { ...propertiesOf(contract?.query), ...propertiesOf(contract?.body) };
  const field = fields.find((name) => Object.hasOwn(taken, name)) ?? fields[0] ?? 'body';
  return [{ field, rule }];
}

const propertiesOf = (schema: unknown): object =>
  (schema as { readonly properties?: object } | undefined)?.properties ?? {};

export const invalid = (...faults: readonly Fault[]): Refusal =>
  refusalOf('invalid_request', faults.length > 0 ? { details: faults } : {});

/** Turns `request_not_pending` into `Request not pending.`, for handlers that provide no message. */
export function messageOf(code: string): string {
  if (code in MESSAGES) return MESSAGES[code as PipelineCode];
  const words = code.toLowerCase().replaceAll('_', ' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

/** Renames the request pipeline's code as this endpoint's document does. */
export function inEndpointCodes(refusal: Refusal, contract: Contract): Refusal {
  const named = contract.response?.codes?.[refusal.code];
  if (named !== undefined) return { ...refusal, code: named };
  return contract.response?.errors === 'upper_case'
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
  TooManyChanges: 'rate_limited',
  NotCaughtUp: 'not_caught_up',
  Overloaded: 'overloaded',
};
/** SQLSTATEs of a server that is unavailable, stopping, starting or full. */
const SERVER_AWAY = /^(08...|57P0[1-5]|53300|25006)$/;
const SOCKET_AWAY = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT']);

/**
 * The only place where an exception becomes a response: 503 for an unavailable dependency, 429 for too many changes,
 * else 500.
 */
export function refusalOfThrow(thrown: unknown): Refusal {
  for (const error of errorAndCauses(thrown)) {
    const code = codeOfError(error);
    if (code !== undefined) {
      const seconds = (error as { retryAfterSeconds?: unknown }).retryAfterSeconds;
      const wait = typeof seconds === 'number' && seconds > 0 ? Math.ceil(seconds) : 1;
      return refusalOf(code, { headers: { 'Retry-After': String(wait) } });
    }
  }
  return refusalOf('internal_error');
}

/** Names and codes of an error and its causes, outermost first, without any of their messages. */
export function reasonOf(thrown: unknown): string {
  const said: string[] = [];
  for (const error of errorAndCauses(thrown)) {
    const { code } = error as { code?: unknown };
    const condition = sqlConditionOf(code);
    const named = typeof code === 'string' ? `${error.name} ${code}` : error.name;
    said.push(condition === undefined ? named : `${named} (${condition})`);
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
