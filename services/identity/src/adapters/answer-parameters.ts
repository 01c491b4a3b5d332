/**
 * Parameters that an authorization response adds to a redirect URI. If a registered URI contained one of them, the
 * response would have it twice.
 */
export const ANSWER_PARAMETERS = [
  ...['code', 'state', 'iss', 'error', 'error_description', 'error_uri', 'response'],
] as const;

/** Adds parameters to a registered URI without changing the registered bytes, because applications compare them. */
export function withParameters(registered: string, parameters: URLSearchParams): string {
  const joint = /[?&]$/.test(registered) ? '' : registered.includes('?') ? '&' : '?';
  return `${registered}${joint}${parameters}`;
}
