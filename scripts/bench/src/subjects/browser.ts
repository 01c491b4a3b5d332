/** A browser, represented by the cookies that it stores and sends. */
import type { Pool } from 'undici';

export type Account = {
  readonly issuer: string;
  readonly email: string;
  readonly password: string;
};

const HOPS_MAX = 10;

type Sent = { readonly headers?: { readonly [name: string]: string }; readonly body?: string };

export async function send(
  pool: Pool,
  method: 'GET' | 'POST',
  to: string,
  { headers, body }: Sent = {},
) {
  const answer = await pool.request({
    path: to,
    method,
    headers: headers ?? {},
    body: body ?? null,
  });
  const text = await answer.body.text();
  const set = [answer.headers['set-cookie'] ?? []].flat().map((line) => line.split(';')[0] ?? '');
  const location = String(answer.headers['location'] ?? '');
  return { status: answer.statusCode, text, location, cookies: set };
}

/**
 * Opens an address that leads to the sign-in page, signs in there by password, and follows the redirects to a page or
 * to another server. Returns the `Cookie` header, and the address at which the redirects end.
 */
export async function signIn(
  pool: Pool,
  { issuer, email, password }: Account,
  to: string,
): Promise<{ readonly cookie: string; readonly end: URL }> {
  const jar = new Map<string, string>();
  const sendWithJar = async (method: 'GET' | 'POST', at: URL, sent: Sent) => {
    const cookie = [...jar.values()].join('; ');
    const headers = { cookie, ...sent.headers };
    const answer = await send(pool, method, at.pathname + at.search, { ...sent, headers });
    for (const pair of answer.cookies) jar.set(pair.slice(0, pair.indexOf('=')), pair);
    return answer;
  };
  const follow = async (from: string): Promise<URL> => {
    let at = new URL(from, issuer);
    for (let hop = 0; hop < HOPS_MAX; hop += 1) {
      const { location } = await sendWithJar('GET', at, { headers: { accept: 'text/html' } });
      if (location === '') return at;
      at = new URL(location, at);
      if (at.origin !== new URL(issuer).origin) return at;
    }
    throw new Error(`${from} leads nowhere`);
  };
  const page = await follow(to);
  const signed = await sendWithJar('POST', new URL(`${page.pathname}/login`, issuer), {
    headers: { 'content-type': 'application/json', accept: 'application/json', origin: issuer },
    body: JSON.stringify({ email, password }),
  });
  if (signed.status !== 200) throw new Error(`the page answered ${signed.status}`);
  const end = await follow(JSON.parse(signed.text).redirect_to);
  return { cookie: [...jar.values()].join('; '), end };
}
