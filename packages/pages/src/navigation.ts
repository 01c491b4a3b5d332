/** One navigation over the pages of all services, which marks the current page. */
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

export function navigation(
  { say }: { readonly say: Say },
  { path, signOutToken }: Navigation,
): Markup {
  const links = ENTRIES.map((entry) => {
    const isHere =
      entry.path === path || (path.startsWith('/approve/') && entry.path === '/approve');
    const current = isHere ? html` aria-current="page"` : html``;
    return html`<li><a href="${entry.path}"${current}>${say(entry.text)}</a></li>`;
  });
  const signOut = form(
    SIGN_OUT_PATH,
    hidden('form_token', signOutToken),
    html`<button class="plain">${say('nav.sign_out')}</button>`,
  );
  return html`<nav class="pages" aria-label="${say('nav.title')}"><a class="skip" href="#main">${say('nav.skip')}</a><ul role="list">${links}</ul>${signOut}</nav>
`;
}
