/** A browser on the pages of a person's own account. It submits forms as the pages show them. */
import { expect } from 'vitest';
import { type Account, PASSWORD } from './identity-fixture.ts';
import { type Browser, browser, type OAuthFixture } from './oauth-fixture.ts';

type Values = { readonly [field: string]: string };
export type Answer = Awaited<ReturnType<Browser['get']>>;

/** Signs in at the hosted pages and returns to the account. */
export async function signedIn(
  fixture: OAuthFixture,
  account: Pick<Account, 'email' | 'tenantId'>,
  password = PASSWORD,
) {
  const page = browser(fixture);
  let answer = await page.get(`/account/sign-in?in=${account.tenantId}`);
  for (let step = 0; step < 10; step += 1) {
    expect(answer.status, answer.text).toBe(303);
    const { pathname } = new URL(answer.location, fixture.baseUrl);
    if (pathname === '/account') return pagesOf(page);
    if (pathname.startsWith('/oauth2/interaction/')) {
      const done = await page.post(`${pathname}/login`, { email: account.email, password });
      answer = await page.get(done.body.redirect_to);
    } else answer = await page.get(answer.location);
  }
  throw new Error('the sign-in does not end');
}

export function pagesOf(page: Browser) {
  const get = (path: string) => page.get(path);
  /** Submits a form of the given page. */
  const send = (shown: Pick<Answer, 'text'>, of: Press) => {
    const found = formIn(shown.text, of);
    if (found === undefined) throw new Error(`no form ${of.form} is shown:\n${shown.text}`);
    return page.form(found.action, { ...found.fields, ...of.typed });
  };
  return {
    page,
    get,
    send,
    /** Opens the page and submits one of its forms. */
    press: async (path: string, of: Press) => send(await get(path), of),
  };
}

export type Press = {
  readonly form: string;
  /** Chooses the form about this object. */
  readonly params?: Values;
  readonly typed?: Values;
};

const unescaped = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

/** The fields of a form as a browser would submit them. */
export function formIn(
  text: string,
  { form, params = {} }: Press,
): { readonly action: string; readonly fields: Values } | undefined {
  for (const [, attributes = '', inner = ''] of text.matchAll(/<form([^>]*)>([\s\S]*?)<\/form>/g)) {
    const fields = fieldsIn(inner);
    const isOf = Object.entries(params).every(([name, value]) => fields[`param.${name}`] === value);
    const action = /action="([^"]*)"/.exec(attributes)?.[1] ?? '';
    if (fields['form'] === form && isOf) return { action: unescaped(action), fields };
  }
  return undefined;
}

function fieldsIn(inner: string): Values {
  const fields: { [name: string]: string } = {};
  for (const [input] of inner.matchAll(/<input[^>]*>/g)) {
    const attribute = (name: string) => new RegExp(` ${name}="([^"]*)"`).exec(input)?.[1];
    const name = attribute('name');
    const isOff = attribute('type') === 'checkbox' && !input.includes(' checked');
    if (name !== undefined && !isOff) fields[name] = unescaped(attribute('value') ?? '');
  }
  for (const [, name = '', options = ''] of inner.matchAll(
    /<select[^>]* name="([^"]*)"[^>]*>([\s\S]*?)<\/select>/g,
  )) {
    fields[name] = unescaped(/value="([^"]*)" selected/.exec(options)?.[1] ?? '');
  }
  for (const [, name = '', value = ''] of inner.matchAll(
    /<textarea[^>]* name="([^"]*)"[^>]*>([\s\S]*?)<\/textarea>/g,
  )) {
    fields[name] = unescaped(value);
  }
  return fields;
}
