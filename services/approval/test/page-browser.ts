/** A browser without scripts in which a person has signed in to the pages. It keeps its cookies. */
import { formToken, pageCookies } from '@cardea/pages';
import type { ApprovalFixture } from './approval-fixture.ts';

export type Values = { readonly [field: string]: string };

export function pageBrowser(of: ApprovalFixture, token: string, language = 'en') {
  const cookies = pageCookies(of.host.needsOf('approval').pageKeys, of.settings);
  const cookie = cookies.begun(token);
  const jar = new Map<string, string>();
  const keep = (set: string) => {
    const [pair = ''] = set.split(';');
    const [name = '', value = ''] = pair.split('=');
    jar.set(name, value);
  };
  keep(cookies.written(cookie));
  const origin = new URL(of.settings.PUBLIC_URL).origin;
  /** `base` is the URL of another replica, or of a proxy in front of one. */
  const ask = async (path: string, init: RequestInit = {}, base = of.baseUrl) => {
    const sent = [...jar].map((pair) => pair.join('=')).join('; ');
    const headers = { accept: 'text/html', 'accept-language': language, cookie: sent, origin };
    const answer = await fetch(base + path, { redirect: 'manual', headers, ...init });
    for (const set of answer.headers.getSetCookie()) keep(set);
    const location = answer.headers.get('location');
    return { status: answer.status, location, text: await answer.text() };
  };
  return {
    get: (path: string, base?: string) => ask(path, {}, base),
    /** Sends a form of the page with the given values. */
    press: (path: string, fields: Values & { readonly form: string }, base?: string) => {
      const body = new URLSearchParams({ ...fields, form_token: formToken(cookie, path) });
      return ask(path, { method: 'POST', body }, base);
    },
  };
}
