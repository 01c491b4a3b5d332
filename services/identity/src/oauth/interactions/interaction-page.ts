/** Chooses the page that an interaction shows, and renders the consent page. */

import {
  form,
  type Html,
  html,
  type Markup,
  mainButton,
  NOTHING,
  type PageBody,
  page,
  plainForm,
} from '@cardea/pages';
import { shownCode } from '../../pages/device-pages.ts';
import { type Frame, frameOf } from '../../pages/frame.ts';
import { isBuiltInScope } from '../resource-servers/known-resources.ts';
import type { Interaction } from './interaction.ts';
import type { InteractionView } from './interaction-view.ts';
import type { At } from './page-parts.ts';
import { registeredPage, registrationPage } from './registration-pages.ts';
import {
  enrolmentPage,
  forgottenPage,
  loginPage,
  mailedPage,
  resetMailedPage,
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
    case 'password_forgotten':
      return forgottenPage(at);
    case 'reset_mailed':
      return resetMailedPage(at, progress.email);
    case 'registering':
      return begunPage(at);
    case 'registered':
      return registeredPage(at, progress);
    case 'restarted':
    case 'replaced':
      return loginPage(at);
    case 'begun':
      return begunPage(at);
  }
}

function begunPage(at: At): PageBody {
  switch (at.view.prompt) {
    case 'consent':
      return at.view.continuation === true ? continuePage(at) : consentPage(at);
    case 'select_account':
      return accountPage(at);
    case 'create':
      return registrationPage(at);
    case 'login':
    case 'mfa':
      return loginPage(at);
  }
}

/** Names the application and the host that receives the response, before the browser is redirected there. */
function continuePage({ frame: { say }, view, path }: At): PageBody {
  const { name: client, host } = view.client;
  return {
    title: say('continue.title', { client }),
    body: html`<p>${say('continue.lead', { host })}</p>
${accountLine(say, view, path)}${form(`${path}/consent`, mainButton(say('continue')))}${plainForm(`${path}/abort`, say('sign_in.abort'))}`,
  };
}

const accountLine = (say: Frame['say'], { account }: InteractionView, path: string): Markup =>
  account === undefined
    ? NOTHING
    : html`<div class="account"><span>${say('consent.account', { email: account.email })}</span>
${plainForm(`${path}/restart`, say('consent.not_me'))}</div>
`;

/** Asks whether to continue with the signed-in account or with another one. */
function accountPage({ frame: { say }, view, path }: At): PageBody {
  const email = view.account?.email ?? '';
  return {
    title: say('account.title'),
    body: html`<p class="muted">${say('sign_in.lead', { client: view.client.name })}</p>
${form(`${path}/account`, mainButton(say('account.continue', { email })))}<form method="post" action="${path}/restart"><button>${say('account.other')}</button></form>
${plainForm(`${path}/abort`, say('sign_in.abort'))}`,
  };
}

function consentPage(at: At): PageBody {
  const { frame, view, path } = at;
  const { say } = frame;
  const { name: client, host, first_party, id_host } = view.client;
  const { device } = view;
  const account = accountLine(say, view, path);
  const lead =
    device === undefined
      ? html`<p>${say('consent.lead', { client, host })}</p>
`
      : html`<p>${say('consent.of_device.lead', { client })}</p>
${shownCode(device.user_code)}<div class="note"><p>${say('consent.of_device.warning')}</p></div>
`;
  const warning =
    LOOPBACK.test(host) && !first_party
      ? html`<div class="note"><p>${say('consent.device')}</p></div>
`
      : NOTHING;
  const publisher =
    id_host === undefined
      ? NOTHING
      : html`<p>${say('consent.publisher', { host: id_host })}</p>
`;
  const scopes = view.scopes.map((scope) => scopeItem(frame, scope));
  const allow = form(
    `${path}/consent`,
    html`<h2 id="scopes">${say('consent.scopes')}</h2>
<ul class="scopes" aria-labelledby="scopes">${scopes}</ul>
${claimsOf(at)}<div class="ways"><button class="main">${say('consent.allow')}</button></div>`,
  );
  return {
    title: say('consent.title'),
    body: html`${lead}${publisher}${account}${warning}${allow}<form method="post" action="${path}/abort"><button>${say('consent.deny')}</button></form>
`,
  };
}

/** The claims that the application gets in addition to the scopes. Each claim depends on its scope. */
function claimsOf({ frame: { say }, view: { claims, tenant } }: At): Markup {
  if (claims.length === 0) return NOTHING;
  const items = claims.map(
    ({ name, from }) =>
      html`<li><span class="fixed">${claimText(say, { name, from, tenant: tenant.display_name })}</span></li>`,
  );
  return html`<h2 id="claims">${say('consent.claims')}</h2>
<ul class="scopes" aria-labelledby="claims">${items}</ul>
`;
}

function claimText(
  say: Frame['say'],
  { name, from, tenant }: { readonly name: string; readonly from: string; readonly tenant: string },
): string {
  switch (from) {
    case 'roles':
      return say('claim.roles', { name, tenant });
    case 'locale':
      return say('claim.locale', { name });
    case 'tenant.slug':
      return say('claim.tenant', { name, tenant });
  }
  const isHidden = from.startsWith('private_metadata.');
  const path = from.slice(from.indexOf('.') + 1);
  return say(isHidden ? 'claim.private_metadata' : 'claim.public_metadata', { name, tenant, path });
}

/** `openid` and scopes that were granted before cannot be deselected; all others can. */
function scopeItem({ say }: Frame, scope: InteractionView['scopes'][number]): Markup {
  const { name } = scope;
  const text = isBuiltInScope(name) ? say(`scope.${name}`) : scope.description;
  return name === 'openid' || !scope.new
    ? html`<li><span class="fixed">${text}</span></li>`
    : html`<li><label><input type="checkbox" name="scope:${name}" value="on" checked> ${text}</label></li>`;
}
