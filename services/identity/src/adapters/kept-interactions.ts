/**
 * Interactions that wait for a mail. They and their cookies last longer than an interaction whose page waits for a
 * person.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Provider } from 'oidc-provider';

/** Members of the library's interaction that its types omit. */
type Stored = {
  readonly uid: string;
  readonly returnTo: string;
  readonly save: (seconds: number) => Promise<unknown>;
};

/** Keeps the interaction for this number of seconds, and returns the browser's cookies with the same lifetime. */
export async function keepInteraction(
  provider: Provider,
  stored: object,
  seconds: number,
): Promise<readonly string[]> {
  const { uid, returnTo } = stored as Stored;
  await (stored as Stored).save(seconds);
  const secure = provider.issuer.startsWith('https:');
  const { cookies, lines } = answering(provider, secure);
  const options = {
    signed: true,
    httpOnly: true,
    sameSite: 'lax',
    secure,
    maxAge: seconds * 1_000,
  } as const;
  cookies.set(provider.cookieName('interaction'), uid, {
    ...options,
    path: `/oauth2/interaction/${uid}`,
  });
  const { pathname } = new URL(returnTo);
  cookies.set(provider.cookieName('resume'), uid, { ...options, path: pathname });
  return lines();
}

/** A context that only signs and collects cookies. */
function answering(provider: Provider, isHttps: boolean) {
  let lines: readonly string[] = [];
  const request = {
    headers: { 'x-forwarded-proto': isHttps ? 'https' : 'http' },
    socket: {},
  } as unknown as IncomingMessage;
  const response = {
    getHeader: () => [...lines],
    setHeader: (_name: string, value: readonly string[]) => {
      lines = value;
    },
  } as unknown as ServerResponse;
  return { cookies: provider.createContext(request, response).cookies, lines: () => lines };
}
