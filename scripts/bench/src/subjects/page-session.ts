/** A browser that has signed in to Cardea's own pages, as the cookies that it sends. */
import type { Owner } from './sign-up.ts';

const HOPS_MAX = 10;

/** Signs in by password, from `/approve` and back to it. Answers the `Cookie` header. */
export async function pageCookie(base: string, owner: Owner): Promise<string> {
  const jar = new Map<string, string>();
  const send = async (to: string, init: RequestInit = {}) => {
    const { pathname, search } = new URL(to, base);
    const answer = await fetch(base + pathname + search, {
      redirect: 'manual',
      ...init,
      headers: { accept: 'text/html', cookie: [...jar.values()].join('; '), ...init.headers },
    });
    for (const line of answer.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      jar.set(pair.slice(0, pair.indexOf('=')), pair);
    }
    return { location: answer.headers.get('location'), text: await answer.text() };
  };
  const follow = async (to: string): Promise<string> => {
    let at = to;
    for (let hop = 0; hop < HOPS_MAX; hop += 1) {
      const { location } = await send(at);
      if (location === null) return at;
      at = location;
    }
    throw new Error(`${to} leads nowhere`);
  };
  const query = new URLSearchParams({ in: owner.tenant, return_to: '/approve' });
  const page = await follow(`/account/sign-in?${query}`);
  const { text } = await send(`${new URL(page, base).pathname}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', origin: base },
    body: JSON.stringify({ email: owner.email, password: owner.password }),
  });
  const end = await follow(JSON.parse(text).redirect_to);
  if (new URL(end, base).pathname !== '/approve') throw new Error(`the sign-in ended at ${end}`);
  return [...jar.values()].join('; ');
}
