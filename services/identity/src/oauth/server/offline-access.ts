/** With this scope an application keeps its session when the user signs out of the browser. */
export const OFFLINE_ACCESS = 'offline_access';

/** Adds this scope to the space-separated scopes of a response. */
export const withScope = (scopes: string | undefined, scope: string): string =>
  [...new Set([...(scopes ?? '').split(' ').filter(Boolean), scope])].join(' ');
