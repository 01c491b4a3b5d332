/** The responses of a page: itself, a redirect, or why there is nothing to see. */
import type { ServerResponse } from 'node:http';
import { form, hidden, mainButton, mainLink } from '../fields.ts';
import { html, type Markup } from '../markup.ts';
import { type Frame, type Html, page, send } from '../page.ts';
import { signInAddress } from '../session/page-paths.ts';
import type { Visit } from '../session/visits.ts';
import type { Refusal } from './page-context.ts';
import type { Strings } from './page-of.ts';

export type Answer = { readonly raw: (response: ServerResponse) => void };

export const NOTHING_SENT: Answer = { raw: () => undefined };

const cookieHeader = (cookies: readonly string[]): { 'Set-Cookie'?: string[] } =>
  cookies.length === 0 ? {} : { 'Set-Cookie': [...cookies] };

export const answered = (status: number, shown: Html, cookies: readonly string[] = []): Answer => ({
  raw: (response) => {
    if (cookies.length > 0) response.setHeader('Set-Cookie', [...cookies]);
    send(status, shown)(response);
  },
});

export const redirected = (location: string, cookies: readonly string[] = []): Answer => ({
  raw: (response) => {
    response.writeHead(303, {
      Location: location,
      'Cache-Control': 'no-store',
      ...cookieHeader(cookies),
    });
    response.end();
  },
});

const answerText =
  (type: string) =>
  (status: number, text: string, cookies: readonly string[] = []): Answer => ({
    raw: (response) => {
      response.writeHead(status, {
        'Content-Type': type,
        'Cache-Control': 'no-store',
        'X-Content-Type-Options': 'nosniff',
        ...cookieHeader(cookies),
      });
      response.end(text);
    },
  });
/** A response for a script of the page. */
export const answeredJson = answerText('application/json');
export const answeredFragment = answerText('text/html; charset=utf-8');

/** A file that the browser saves and does not show. */
export const answeredFile = (
  name: string,
  content: unknown,
  cookies: readonly string[] = [],
): Answer => ({
  raw: (response) => {
    response.writeHead(200, {
      'Content-Type': 'application/json',
      'Content-Disposition': `attachment; filename="${name}"`,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      ...cookieHeader(cookies),
    });
    response.end(JSON.stringify(content, null, 2));
  },
});

/** The response does not reveal whether the object exists. It may also belong to another account of the person. */
function refusedPage<Key extends string>(
  frame: Frame<Key>,
  { status, code, headers }: Refusal,
  other: string,
): Html {
  const lead =
    status === 404 ? frame.say('page.not_found') : frame.sayRefusal(code, headers?.['Retry-After']);
  return page(frame, {
    title: frame.say('failed.title'),
    body: html`<p>${lead}</p>
<p><a class="button" href="${other}">${frame.say('page.other_account')}</a></p>`,
  });
}

export const elsewherePage = <Key extends string>(frame: Frame<Key>, there: string): Html =>
  page(frame, {
    title: frame.say('page.elsewhere_title'),
    body: html`<p>${frame.say('page.elsewhere', { tenant: frame.tenantName })}</p>
<p><a class="button main" href="${there}">${frame.say('page.switch')}</a></p>`,
  });

/** The typed values are kept in hidden fields, so that nothing has to be typed again. */
const kept = (entries: Strings): readonly Markup[] =>
  Object.entries(entries).map(([name, value]) => hidden(name, value));

/**
 * The sign-in has ended. The person signs in again in another window, and this page continues with the typed values.
 */
export const endedPage = <Key extends string>(
  frame: Frame<Key>,
  path: string,
  entries: Strings,
): Html =>
  page(frame, {
    title: frame.say('failed.title'),
    body: html`<p>${frame.say('page.ended')}</p>
<p><a class="button main" target="_blank" rel="noopener" href="${signInAddress({ returnTo: path })}">${frame.say('page.sign_in_again')}</a></p>
${form(path, ...kept(entries), html`<button>${frame.say('page.go_on')}</button>`)}`,
  });

/** A dependency does not respond. The same form can be sent again. */
export const awayPage = <Key extends string>(
  frame: Frame<Key>,
  code: string,
  again: { readonly path: string; readonly entries: Strings } | undefined,
): Html =>
  page(frame, {
    title: frame.say('failed.title'),
    body: html`<p>${frame.sayRefusal(code)}</p>
${again === undefined ? mainLink('', frame.say('page.try_again')) : form(again.path, ...kept(again.entries), mainButton(frame.say('page.try_again')))}`,
  });

/** A secret is shown once. If its form is sent again, this page says where to get a new one. */
export const shownBeforePage = <Key extends string>(frame: Frame<Key>, path: string): Html =>
  page(frame, {
    title: frame.say('once.title'),
    body: html`<p>${frame.say('once.lead')}</p>${mainLink(path, frame.say('once.back'))}`,
  });

/** The page could not be read: the sign-in has ended, or its person may not see it. */
export function unreadablePage<Key extends string>(
  of: { readonly frame: Frame<Key>; readonly visit: Visit; readonly path: string },
  refusal: Refusal,
): Answer {
  const { frame, visit, path } = of;
  if (refusal.code === 'unauthenticated') {
    return redirected(signInAddress({ returnTo: path, tenant: visit.tenantId }));
  }
  const other = signInAddress({ returnTo: path, tenant: visit.tenantId, isFresh: true });
  return answered(refusal.status, refusedPage(frame, refusal, other), visit.cookies);
}
