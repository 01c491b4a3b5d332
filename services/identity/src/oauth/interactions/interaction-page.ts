/** Which page an interaction shows, and the page of a consent. */
import { form, plainForm } from '../../pages/fields.ts';
import { html, type Markup, NOTHING } from '../../pages/markup.ts';
import { type Frame, frameOf, type Html, type PageBody, page } from '../../pages/page.ts';
import { isBuiltInScope } from '../resource-servers/known-resources.ts';
import type { Interaction } from './interaction.ts';
import type { InteractionView } from './interaction-view.ts';
import {
  type At,
  enrolmentPage,
  loginPage,
  mailedPage,
  secondFactorPage,
} from './sign-in-pages.ts';

type Headers = { readonly [name: string]: string | undefined };

const LOOPBACK = /^(127\.0\.0\.1|\[::1\]|localhost)(:|$)/;

export function frameFor({ tenant }: InteractionView, { stored }: Interaction, headers: Headers) {
  const { display_name: displayName, branding, language } = tenant;
  const uiLocales = stored.params['ui_locales'];
  return frameOf({ displayName, settings: { branding, language } }, headers, { uiLocales });
}

export function interactionPage(at: At, interaction: Interaction): Html {
  const { redirectUri } = interaction;
  return page(at.frame, { ...bodyOf(at, interaction), alert: at.alert, redirectUri });
}

function bodyOf(at: At, { progress }: Interaction): PageBody {
  switch (progress.step) {
    case 'second_factor':
      return progress.isEnrolment ? enrolmentPage(at, progress) : secondFactorPage(at, progress);
    case 'mailed':
      return mailedPage(at, progress);
    case 'restarted':
      return loginPage(at);
    case 'begun':
      return at.view.prompt === 'consent' ? consentPage(at) : loginPage(at);
  }
}

function consentPage({ frame, view, path }: At): PageBody {
  const { say } = frame;
  const { name: client, host, first_party } = view.client;
  const account =
    view.account === undefined
      ? NOTHING
      : html`<div class="account"><span>${say('consent.account', { email: view.account.email })}</span>
${plainForm(`${path}/restart`, say('consent.not_me'))}</div>
`;
  const warning =
    LOOPBACK.test(host) && !first_party
      ? html`<div class="note"><p>${say('consent.device')}</p></div>
`
      : NOTHING;
  const scopes = view.scopes.map((scope) => scopeItem(frame, scope));
  const allow = form(
    `${path}/consent`,
    html`<h2 id="scopes">${say('consent.scopes')}</h2>
<ul class="scopes" aria-labelledby="scopes">${scopes}</ul>
<div class="ways"><button class="main">${say('consent.allow')}</button></div>`,
  );
  return {
    title: say('consent.title'),
    body: html`<p>${say('consent.lead', { client, host })}</p>
${account}${warning}${allow}<form method="post" action="${path}/abort"><button>${say('consent.deny')}</button></form>
`,
  };
}

/** Who somebody is cannot be left out; all else can. */
function scopeItem({ say }: Frame, scope: InteractionView['scopes'][number]): Markup {
  const { name } = scope;
  const text = isBuiltInScope(name) ? say(`scope.${name}`) : scope.description;
  return name === 'openid'
    ? html`<li><span class="fixed">${text}</span></li>`
    : html`<li><label><input type="checkbox" name="scope:${name}" value="on" checked> ${text}</label></li>`;
}
