/**
 * A path that a proxy could interpret in another way than we do is answered with 404: both must mean the
 * same resource, or a proxy's authorization for one would give access to the other.
 */
const ODD = /\/\/|\/\.{1,2}(\/|$)|[;#\\]|%2e|%2f|%5c|%00|[^\x21-\x7e]/i;

/** `path` is the raw path without the query. */
export const isOddPath = (path: string): boolean =>
  path.charCodeAt(0) !== 0x2f || ODD.test(path) || (path.length > 1 && path.endsWith('/'));
