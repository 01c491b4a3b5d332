/**
 * Decides who gets a page. Clients that accept HTML by name, as browsers do, get a page. All others get JSON, including
 * those that accept anything.
 */
const REFUSED = /;\s*q=0(?:\.0*)?\s*$/;

export const acceptsPage = (accept: string | undefined): boolean =>
  (accept ?? '')
    .toLowerCase()
    .split(',')
    .some((range) => /^\s*text\/html\s*(;|$)/.test(range) && !REFUSED.test(range));
