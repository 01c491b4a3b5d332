/** Interactions that wait for a mail: they and their cookies last longer than a page that waits for a person. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Provider } from 'oidc-provider';

/** What the library's interaction has that its types leave out. */
type Stored = {
  readonly uid: string;
  readonly returnTo: string;
  readonly save: (seconds: number) => Promise<unknown>;
};

/** Keeps it for so many seconds from now on, and returns the cookies of its browser that last as long. */
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

/** A context of which nothing is used but that it signs cookies and collects them. */
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
