/** The paths of pages, and which of them may be the target after a sign-in. */

/** Ids of pages are UUIDs, and nothing in these paths has to be decoded. */
const PAGE = /^\/(?:approve|account)(?:\/[\w-]{1,64}){0,3}$/;
const HOME = '/account';

export const SIGN_IN_PATH = '/account/sign-in';
export const SIGN_OUT_PATH = '/account/sign-out';
export const CALLBACK_PATH = '/account/callback';
/** No page can be shown again at these paths. */
const OF_SIGN_IN: readonly string[] = [SIGN_IN_PATH, SIGN_OUT_PATH, CALLBACK_PATH];

/** The path to return to. Any other path, or the address of another site, is replaced by the first page. */
export function returnPath(asked: string | undefined, publicUrl: string): string {
  if (asked === undefined || !asked.startsWith('/') || asked.includes('\\')) return HOME;
  if (!URL.canParse(asked, publicUrl)) return HOME;
  const { origin, pathname, search } = new URL(asked, publicUrl);
  const isOurs = origin === new URL(publicUrl).origin && PAGE.test(pathname);
  return isOurs && !OF_SIGN_IN.includes(pathname) ? `${pathname}${search}` : HOME;
}

/** The address for signing in to see a page. `isFresh`: the person has to sign in again although they are signed in. */
export function signInAddress(of: {
  readonly returnTo: string;
  /** The slug or the id of the tenant. */
  readonly tenant?: string | undefined;
  readonly isFresh?: boolean;
}): string {
  const query = new URLSearchParams({ return_to: of.returnTo });
  if (of.tenant !== undefined) query.set('in', of.tenant);
  if (of.isFresh === true) query.set('fresh', 'true');
  return `${SIGN_IN_PATH}?${query}`;
}
