/**
 * One navigation over the pages of all services, which marks the current page. On narrow screens it is one line, which
 * names that page and opens the list; it needs no script.
 */
import { form, hidden } from './fields.ts';
import { html, type Markup } from './markup.ts';
import { SIGN_OUT_PATH } from './session/page-paths.ts';
import type { FrameTextKey } from './texts/frame-texts.ts';
import type { Say } from './texts/texts.ts';

export type Navigation = {
  /** The path of the page that is shown. */
  readonly path: string;
  /** The token of the sign-out form. */
  readonly signOutToken: string;
};

const ENTRIES: readonly { readonly path: string; readonly text: FrameTextKey }[] = [
  { path: '/account', text: 'nav.account' },
  { path: '/account/profile', text: 'nav.profile' },
  { path: '/account/email', text: 'nav.email' },
  { path: '/account/security', text: 'nav.security' },
  { path: '/account/sessions', text: 'nav.sessions' },
  { path: '/account/applications', text: 'nav.applications' },
  { path: '/account/agents', text: 'nav.agents' },
  { path: '/account/channels', text: 'nav.channels' },
  { path: '/account/data', text: 'nav.data' },
  { path: '/approve', text: 'nav.approve' },
];

/** Pages without an entry of their own, each with the entry whose page leads to it. */
const UNDER: { readonly [path: string]: string | undefined } = {
  '/account/activity': '/account',
  '/account/decisions': '/approve',
  '/account/deputy': '/account/agents',
  '/account/grants': '/account/agents',
};

export function navigation(
  { say }: { readonly say: Say },
  { path, signOutToken }: Navigation,
): Markup {
  const at = path.startsWith('/approve/') ? '/approve' : (UNDER[path] ?? path);
  const here = ENTRIES.find((entry) => entry.path === at);
  const links = ENTRIES.map((entry) => {
    const current = entry === here ? html` aria-current="page"` : html``;
    return html`<li><a href="${entry.path}"${current}>${say(entry.text)}</a></li>`;
  });
  const menu =
    here === undefined
      ? html`${say('nav.menu')}`
      : html`<span class="heard">${say('nav.menu')}: </span>${say(here.text)}`;
  const signOut = form(
    SIGN_OUT_PATH,
    hidden('form_token', signOutToken),
    html`<button class="plain">${say('nav.sign_out')}</button>`,
  );
  return html`<nav class="pages" aria-label="${say('nav.title')}"><a class="skip" href="#main">${say('nav.skip')}</a><details><summary>${menu}</summary><ul role="list">${links}</ul></details>${signOut}</nav>
`;
}
