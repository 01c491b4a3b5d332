/**
 * Repeats a request at other replicas. nginx sends a request to each replica once, and gives up when the
 * service's name resolves to other addresses in between. A request that no replica has received then starts
 * again with the new addresses.
 */
import { block, lines } from './nginx-text.ts';
import { AFTER_FAILURE, ERROR_LOCATION, ERROR_LOCATION_IN_CAPITALS } from './own-errors.ts';

/** nginx follows ten redirects of a request; one leads to the error's body. */
const TRIES_MAX = 8;

const AGAIN = '@again';
const GIVEN_UP = '@given-up';
const GIVEN_UP_IN_CAPITALS = '@given-up-in-capitals';

/** Directives inside each route that set what a second start needs. */
export const startedBy = (of: {
  readonly service: string;
  readonly upperCaseCodes: boolean;
  readonly keepsBody: boolean;
}): readonly string[] => [
  `set $service ${of.service};`,
  ...(of.keepsBody ? ['set $body kept;'] : []),
  ...(of.upperCaseCodes ? [`set $given_up ${GIVEN_UP_IN_CAPITALS};`] : []),
];

/** The directives of the server, which apply unless a route has others. */
export const ends: readonly string[] = [
  'recursive_error_pages on;',
  `set $given_up ${GIVEN_UP};`,
  'set $body "";',
];

/** `secondsMax` has one digit. */
export function startOverMap(secondsMax: number): readonly string[] {
  const methods = '(?:kept (?:PUT|GET|HEAD|DELETE) [^ ]*| (?:GET|HEAD|DELETE) 0?)';
  const seconds = String.raw`[0-${secondsMax - 1}]\.[0-9]+`;
  const tries = `(?:[^ ]+ (?:: )?){0,${TRIES_MAX - 2}}0$`;
  return lines(`
# Of a request without a body, or with one that is still here as a whole. The last number is what was sent in the last
# try: nothing, so that whatever kills its service is not carried from one replica to the next for ever.
${block(
  `map "$body $request_method $content_length$http_transfer_encoding $request_time $upstream_bytes_sent" ${AFTER_FAILURE}`,
  ['volatile;', 'default $given_up;', `"~^${methods} ${seconds} ${tries}" ${AGAIN};`],
)}`);
}

const givenUp = (place: string, errors: string): readonly string[] =>
  lines(
    block(`location ${place}`, [
      `error_page 502 504 ${errors};`,
      'if ($upstream_status ~ "504$") {',
      '    return 504;',
      '}',
      'return 502;',
    ]),
  );

export const endPlaces = (): readonly string[] => [
  ...lines(block(`location ${AGAIN}`, ['proxy_pass http://$service;'])),
  ...givenUp(GIVEN_UP, ERROR_LOCATION),
  ...givenUp(GIVEN_UP_IN_CAPITALS, ERROR_LOCATION_IN_CAPITALS),
];
