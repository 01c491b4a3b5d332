/**
 * Who is shown a page: whoever says that they take HTML, as browsers do. Others, and whoever takes anything, get
 * JSON.
 */
const REFUSED = /;\s*q=0(?:\.0*)?\s*$/;

export const acceptsPage = (accept: string | undefined): boolean =>
  (accept ?? '')
    .toLowerCase()
    .split(',')
    .some((range) => /^\s*text\/html\s*(;|$)/.test(range) && !REFUSED.test(range));
