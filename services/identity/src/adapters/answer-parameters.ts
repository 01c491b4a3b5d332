/**
 * Parameters that the answer of an authorization request adds to a redirect URI. A URI that has one of its own would
 * hold it twice.
 */
export const ANSWER_PARAMETERS = [
  ...['code', 'state', 'iss', 'error', 'error_description', 'error_uri', 'response'],
] as const;

/** Adds parameters to a registered URI. An application compares what it has registered, so its bytes stay as they are. */
export function withParameters(registered: string, parameters: URLSearchParams): string {
  const joint = /[?&]$/.test(registered) ? '' : registered.includes('?') ? '&' : '?';
  return `${registered}${joint}${parameters}`;
}
