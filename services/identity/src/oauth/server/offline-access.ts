/** An application that was granted this scope goes on when its user signs out of the browser. */
export const OFFLINE_ACCESS = 'offline_access';

/** Scopes of an answer, space separated, with this one among them. */
export const withScope = (scopes: string | undefined, scope: string): string =>
  [...new Set([...(scopes ?? '').split(' ').filter(Boolean), scope])].join(' ');
