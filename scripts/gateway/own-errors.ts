/** What the gateway answers where no service does: our error body, the code from the status. */
import { block, DEFAULT_HEADERS, lines } from './nginx-text.ts';

/** Internal places that write a body; a client that asks for them is told that nothing is there. */
export const ERROR_LOCATION = '/gateway-error';
export const ERROR_LOCATION_IN_CAPITALS = '/gateway-error-in-capitals';
export const MALFORMED_LOCATION = '/gateway-malformed';

/** What a client is told where no service answers: status, code, message. */
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

/** nginx's numbers for a request that is none; clients get 400. */
const MALFORMED = [400, 414, 421, 431, 494, 495, 496, 497, 501];

/** As `error_page` names them. */
export const OWN_STATUSES = OWN_ERRORS.map(([status]) => status)
  .filter((status) => !MALFORMED.includes(status))
  .join(' ');

export const errorPages: readonly string[] = [
  `error_page ${OWN_STATUSES} ${ERROR_LOCATION};`,
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
        String.raw`"~^405 /(?:openapi\.json|asyncapi\.json|docs)" "GET, HEAD";`,
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

const ownBody = (code: string) =>
  `'{"error":{"code":"${code}","message":"$error_message","request_id":"$request_id"}}'`;

/** A status of 200 stands for the one that led here. */
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
      `return ${status} ${ownBody(code)};`,
    ]),
  );
