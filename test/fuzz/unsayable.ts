/** Refusals of requests that the document allows, each with the reason why no schema can express it. */
import type { Finding } from './schemathesis.ts';

type Reason = Partial<Pick<Finding, 'operation' | 'check' | 'code' | 'fault' | 'status'>> & {
  /** A header of the request, as `Name: value`. */
  readonly header?: string;
  readonly why: string;
};

const POSITIVE = 'positive_data_acceptance';

const INTERACTION_VERBS = [
  'login',
  'mfa',
  'challenge',
  'restart',
  'consent',
  'abort',
  'social',
  'link',
];

/** Operations whose errors are those of OAuth, which has few codes and names no fields. */
const OAUTH = [
  ...['GET /oauth2/authorize', 'GET /oauth2/authorize/{uid}', 'POST /oauth2/authorize'],
  ...['token', 'revoke', 'par', 'introspect', 'userinfo'].map((name) => `POST /oauth2/${name}`),
  ...['GET', 'POST'].flatMap((method) =>
    ['', ...INTERACTION_VERBS.map((verb) => `/${verb}`)].map(
      (verb) => `${method} /oauth2/interaction/{uid}${verb}`,
    ),
  ),
];

const REASONS: readonly Reason[] = [
  { code: 'invalid_verification_token', why: 'a token is known to whom it was sent' },
  {
    ...{ operation: 'POST /api/v1/auth/verify-email', status: 422, code: undefined },
    why: 'the same as a page, which shows no code',
  },
  { code: 'invalid_subject_token', why: 'a token is known to whom it was issued' },
  { code: 'request_expired', why: 'a request for approval ends by the clock' },
  { code: 'reset_token_expired', why: 'a token ends by the clock' },
  { code: 'challenge_expired', why: 'a challenge ends by the clock, and with its first use' },
  { code: 'session_ended', why: 'a session ends by the clock or by its user' },
  { code: 'delivery_not_found', why: 'there may be no such delivery' },
  { code: 'webhook_unavailable', why: 'the webhook of a delivery may be gone' },
  { code: 'idempotency_key_reused', why: 'depends on the requests before it' },
  {
    code: 'model_invalid',
    why: 'a model is judged as a whole; conditions are read to say that there are none',
  },
  ...[
    ...['relation', 'checks.*.relation', 'relations'].map((field) => `${field} enum`),
    ...['relation', 'writes.*.relation', 'deletes.*.relation'].map((field) => `${field} model`),
  ].map((fault) => ({ fault, why: 'the relations of a tenant are those of its model' })),
  { code: 'unknown_role', why: 'each tenant has its own roles' },
  { code: 'unknown_field', why: 'each service has its own fields' },
  { code: 'unknown_approver', why: 'there may be no such user' },
  { code: 'invalid_url', why: 'whether an address is private is known when it is read' },
  { code: 'password_too_weak', why: 'a list of common passwords' },
  {
    code: 'invalid_consistency_token',
    header: 'X-Service-Consistency: 0',
    why: 'no token: the fuzzer invents only letters and digits for headers, and calls this 0 valid although the pattern asks for a hyphen',
  },
  ...['body nul', 'query nul'].map((fault) => ({
    fault,
    why: 'no text anywhere holds NUL: a rule of the reader, before any schema',
  })),
  ...['agent_id', 'user_id', 'action', 'resource', 'reason'].map((field) => ({
    operation: 'POST /api/v1/ciba/requests',
    fault: `${field} readable`,
    why: 'what is left without characters that Unicode counts as format, in its form NFC',
  })),
  ...['max_bytes', 'depth', 'too_many_members', 'number_range'].map((rule) => ({
    operation: 'POST /api/v1/ciba/requests',
    fault: `details ${rule}`,
    why: 'counted over the whole object, and written out as JSON',
  })),
  {
    operation: 'POST /api/v1/ciba/access-requests',
    fault: 'reason readable',
    why: 'what is left without characters that Unicode counts as format, in its form NFC',
  },
  {
    operation: 'POST /api/v1/ciba/access-requests',
    fault: 'duration_seconds setting',
    why: 'how long is a setting of the tenant',
  },
  { fault: 'services given', why: 'what approvals gave an agent is known to the agent alone' },
  { fault: 'owner_user_id known', why: 'there may be no such user' },
  { fault: 'approvers known', why: 'there may be no such user' },
  { code: 'invalid_state', why: 'a state is known to the browser that began' },
  { fault: 'as_of past', why: 'what has not passed changes with the clock' },
  { fault: 'expires_at future date-time', why: 'what has passed changes with the clock' },
  { fault: 'from order', why: 'the order of two fields' },
  { fault: 'offset not_with_cursor', why: 'two parameters exclude each other' },
  { fault: 'cursor form', why: 'what a cursor holds is not for clients' },
  ...[
    'avatar_url',
    'settings.app_url',
    'settings.allowed_redirect_uris',
    'settings.social',
    ...['logo', 'icon', 'terms', 'privacy'].map((page) => `settings.branding.${page}_url`),
  ].map((field) => ({
    fault: `${field} format`,
    why: 'an address has to be read as URLs are',
  })),
  {
    operation: 'POST /api/v1/vault/services',
    code: 'invalid_request',
    why: 'two fields of one name; a default above the most',
  },
  {
    operation: 'PATCH /api/v1/vault/services/{name}',
    code: 'invalid_request',
    why: 'two fields of one name; a default above the most',
  },
  ...['POST /api/v1/fga/tuples/batch', 'POST /api/v1/fga/dry-run'].flatMap((operation) =>
    ['writes.* repeated', 'deletes.* repeated', 'body max_items'].map((fault) => ({
      ...{ operation, fault },
      why: 'two lists together: no tuple is in both, and they have 100 at most',
    })),
  ),
  ...['POST /api/v1/admin/applications', 'PATCH /api/v1/admin/applications/{id}'].map(
    (operation) => ({
      ...{ operation, code: 'invalid_request' },
      why: 'the kind of an application decides on its other fields; addresses have to be read as URLs are',
    }),
  ),
  {
    operation: 'POST /api/v1/admin/resource-servers',
    fault: 'scopes unique',
    why: 'two scopes of one name with different descriptions',
  },
  {
    operation: 'POST /api/v1/admin/users/import',
    check: 'negative_data_rejection',
    why: 'each person is judged alone: who cannot be taken is named in the answer',
  },
  ...['unlock', 'revoke-sessions', 'reset-mfa', 'reset-password', 'impersonate'].flatMap((action) =>
    [POSITIVE, 'status_code_conformance'].map((check) => ({
      operation: `POST /api/v1/admin/users/{id}/${action}`,
      check,
      code: 'method_not_allowed',
      why: 'an id that is one dot leaves the path when the URL is built, and the rest is a path of GET',
    })),
  ),
  ...OAUTH.flatMap((operation) => [
    {
      ...{ operation, status: 400 },
      why: 'which client, code, token and request there are; and no parameter stands twice (RFC 6749, 3.1)',
    },
    {
      ...{ operation, status: 404, check: 'response_schema_conformance' },
      why: 'a backslash in a path is refused before an endpoint is found',
    },
    {
      ...{ operation, status: 413, check: 'negative_data_rejection' },
      why: 'a body is refused for its size before its form is looked at',
    },
  ]),
  {
    check: 'negative_data_rejection',
    code: 'body_too_large',
    why: 'a body is refused for its size before its form is looked at',
  },
];

/** `writes.3 repeated` is `writes.* repeated`. */
const withoutIndex = (fault: string | undefined): string | undefined =>
  fault?.replaceAll(/\.\d+(?= |\.)/g, '.*');

export const isUnsayable = (finding: Finding): boolean =>
  REASONS.some(
    ({ operation, check = POSITIVE, code, fault, status, header }) =>
      check === finding.check &&
      (operation ?? finding.operation) === finding.operation &&
      (code ?? finding.code) === finding.code &&
      (status ?? finding.status) === finding.status &&
      (fault === undefined || fault === withoutIndex(finding.fault)) &&
      (header === undefined || finding.headers.includes(header)),
  );
