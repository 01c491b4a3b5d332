/** The responses of the gateway itself: our error body, with the code for the status. */
import { block, DEFAULT_HEADERS, lines } from './nginx-text.ts';

/** Internal locations that write a body; a client that requests them gets 404. */
export const ERROR_LOCATION = '/gateway-error';
export const ERROR_LOCATION_IN_CAPITALS = '/gateway-error-in-capitals';
export const MALFORMED_LOCATION = '/gateway-malformed';

/** Status, code and message of a response that no service wrote. */
const OWN_ERRORS = [
  [400, 'invalid_request', 'The request is not of the form that this endpoint takes.'],
  [404, 'not_found', 'Nothing is here.'],
  [405, 'method_not_allowed', 'This path does not take this method.'],
  [408, 'request_timeout', 'The request did not arrive in time.'],
  [412, 'precondition_failed', 'The request asks for another version.'],
  [413, 'body_too_large', 'The body is too large.'],
  [500, 'internal_error', 'Something went wrong on our side.'],
  [502, 'upstream_unavailable', 'The service behind this path is away at the moment.'],
  [503, 'temporarily_unavailable', 'A part that this needs is away at the moment.'],
  [504, 'upstream_timeout', 'The service behind this path did not answer in time.'],
] as const;

/** nginx's statuses for malformed requests; clients get 400. */
const MALFORMED = [400, 414, 421, 431, 494, 495, 496, 497, 501];

/** No service answered. `again.ts` defines what follows. */
export const AFTER_FAILURE = '$after_failure';
const UNANSWERED = [502, 504];
const OWN_STATUSES = OWN_ERRORS.map(([status]) => status)
  .filter((status) => ![...MALFORMED, ...UNANSWERED].includes(status))
  .join(' ');

/** A location that has one of these directives inherits none of the outer ones. */
export const errorPagesOf = (place: string): readonly string[] => [
  `error_page ${OWN_STATUSES} ${place};`,
  // Only errors of nginx itself are rewritten: the answer of a service is forwarded unchanged.
  `error_page ${UNANSWERED.join(' ')} = ${AFTER_FAILURE};`,
];

export const errorPages: readonly string[] = [
  ...errorPagesOf(ERROR_LOCATION),
  `error_page ${MALFORMED.join(' ')} = ${MALFORMED_LOCATION};`,
];

export function errorMaps(): readonly string[] {
  const map = (name: string, toldBy: (error: (typeof OWN_ERRORS)[number]) => string) =>
    lines(
      block(`map $status $${name}`, [
        ...OWN_ERRORS.map((error) => `${error[0]} "${toldBy(error)}";`),
        `default "${toldBy([500, 'internal_error', 'Something went wrong on our side.'])}";`,
      ]),
    );
  return [
    '',
    ...map('error_code', ([, code]) => code),
    ...map('error_code_in_capitals', ([, code]) => code.toUpperCase()),
    ...map('error_message', ([, , message]) => message),
    ...lines(block('map $status $retry_after', ['default "";', '"~^50[234]$" 1;'])),
    ...lines(
      block('map "$status $request_uri" $allow', [
        'default "";',
        String.raw`"~^405 /(?:openapi\.json|asyncapi\.json|docs|favicon\.ico|(?:\?.*)?$)" "GET, HEAD";`,
      ]),
    ),
  ];
}

export const errorPlaces = (): readonly string[] => [
  ...errorPlace(ERROR_LOCATION, 200, '$error_code'),
  ...errorPlace(ERROR_LOCATION_IN_CAPITALS, 200, '$error_code_in_capitals'),
  ...errorPlace(MALFORMED_LOCATION, 400, '$error_code', [
    'if ($unreadable_path) {',
    `    return 404 ${ownBody('$error_code')};`,
    '}',
  ]),
];

const ownBody = (code: string, details = '') =>
  `'{"error":{"code":"${code}","message":"$error_message","request_id":"$request_id"${details}}}'`;

/** The answer of a service to bytes that are no request. */
const MALFORMED_DETAILS = ',"details":[{"field":"request","rule":"form"}]';

/** Status 200 stands for the status of the error that nginx redirected here. */
const errorPlace = (
  place: string,
  status: number,
  code: string,
  before: readonly string[] = [],
): readonly string[] =>
  lines(
    block(`location = ${place}`, [
      'internal;',
      'default_type "application/json; charset=utf-8";',
      ...DEFAULT_HEADERS,
      'add_header Retry-After $retry_after always;',
      'add_header Allow $allow always;',
      ...before,
      `return ${status} ${ownBody(code, status === 400 ? MALFORMED_DETAILS : '')};`,
    ]),
  );
