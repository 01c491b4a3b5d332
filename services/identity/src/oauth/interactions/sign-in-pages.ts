/** The pages at which people sign in: first factor, mailed code or link, second factor and its enrolment. */
import {
  field,
  form,
  hidden,
  html,
  type Markup,
  mainButton,
  mainLink,
  NOTHING,
  orLine,
  PASSKEY_SCRIPT,
  type PageBody,
  passkeyForm,
  plainForm,
  revealing,
  SAVE_SCRIPT,
  SHOW_PASSWORD_SCRIPT,
  saveBar,
  scriptsOf,
  trusted,
} from '@cardea/pages';
import { renderSVG } from 'uqr';
import type { Frame } from '../../pages/frame.ts';
import { TOKEN_SCRIPT } from '../../pages/token-script.ts';
import type { Mailed, PendingSecondFactor } from './interaction.ts';
import { type At, abort, emailField, mailedCodeField, restart } from './page-parts.ts';
import { CODE_CHARACTERS_MAX } from './typed-fields.ts';

const PROVIDER_NAMES: { readonly [provider: string]: string } = {
  google: 'Google',
  github: 'GitHub',
  microsoft: 'Microsoft',
};

/** The link stands below the password form, because a form cannot contain another one. */
const forgotten = ({ frame }: At): Markup =>
  html`<button class="plain" form="forgotten">${frame.say('sign_in.forgotten')}</button>`;
const forgottenForm = ({ path }: At): Markup =>
  html`<form method="post" action="${path}/forgot-password" id="forgotten"></form>
`;
const create = ({ frame, path, view }: At): Markup =>
  view.registration === undefined
    ? NOTHING
    : plainForm(`${path}/register`, frame.say('sign_in.create'));
const passkey = (
  at: At,
  to: 'login' | 'mfa',
  text: string,
  more: { readonly isMain?: boolean; readonly isOffered?: boolean } = {},
): Markup =>
  passkeyForm({
    action: `${at.path}/${to}`,
    challenge: `${at.path}/challenge`,
    text,
    failed: at.frame.say('passkey.failed'),
    ...more,
  });

export function loginPage(at: At): PageBody {
  const { frame, view, path } = at;
  const { say } = frame;
  const has = (method: string) => view.methods.includes(method);
  const mailed = (['email_otp', 'magic_link'] as const).filter(has);
  const others: Markup[] = [
    ...(has('passkey') ? [passkey(at, 'login', say('sign_in.passkey'), { isOffered: true })] : []),
    ...view.methods
      .filter((method) => Object.hasOwn(PROVIDER_NAMES, method))
      .map((provider) => providerLink(at, provider)),
  ];
  const byAddress =
    has('password') || mailed.length > 0
      ? form(`${path}/login`, ...addressFields(at, has('password'), mailed))
      : NOTHING;
  const none = view.methods.length === 0 ? html`<p>${say('sign_in.none')}</p>` : NOTHING;
  const isApart = has('password') && mailed.length === 0 && others.length > 0;
  const line = isApart ? orLine(say('or')) : NOTHING;
  const ways = others.length > 0 ? html`<div class="ways">${others}</div>` : NOTHING;
  return {
    title: say('sign_in.title'),
    body: html`<p class="muted">${say('sign_in.lead', { client: view.client.name })}</p>
${none}${byAddress}${has('password') ? forgottenForm(at) : NOTHING}${line}${ways}${create(at)}${abort(at)}`,
    script: scriptsOf(has('passkey') && PASSKEY_SCRIPT, has('password') && SHOW_PASSWORD_SCRIPT),
  };
}

/** Enter presses the first button of a form. The buttons for a code or a link need no password. */
function addressFields(
  at: At,
  hasPassword: boolean,
  mailed: readonly ('email_otp' | 'magic_link')[],
): readonly Markup[] {
  const { email, alert } = at;
  const { say } = at.frame;
  // An error from elsewhere, such as a provider, does not make these fields invalid.
  const isInvalid = alert !== undefined && email !== undefined;
  const address = emailField(at, {
    autocomplete: 'username webauthn',
    isFocused: alert === undefined,
    isInvalid,
  });
  const password = field({
    name: 'password',
    label: say('password'),
    type: 'password',
    autocomplete: 'current-password',
    isInvalid,
    reveal: revealing(say),
  });
  const submit = html`<button class="main" name="method" value="password">${say('sign_in.submit')}</button>`;
  const buttons = mailed.map((method, index) => {
    const text = say(method === 'email_otp' ? 'sign_in.otp' : 'sign_in.magic_link');
    const kind = !hasPassword && index === 0 ? html` class="main"` : NOTHING;
    const unchecked = hasPassword ? html` formnovalidate` : NOTHING;
    return html`<button${kind} name="method" value="${method}"${unchecked}>${text}</button>`;
  });
  const first = hasPassword ? [password, submit, forgotten(at)] : [];
  const line = hasPassword && mailed.length > 0 ? [orLine(say('or'))] : [];
  return [address, ...first, ...line, html`<div class="ways">${buttons}</div>`];
}

function providerLink({ frame, view, publicUrl, tenantId }: At, provider: string): Markup {
  const query = new URLSearchParams({ tenant_id: tenantId, interaction: view.uid });
  const href = `${publicUrl}/api/v1/auth/social/${provider}/authorize?${query}`;
  const text = frame.say('sign_in.social', { provider: PROVIDER_NAMES[provider] ?? provider });
  return html`<a class="button" href="${href}">${text}</a>`;
}

/** Shows the field for the mailed code. A mailed link has a page of its own. */
export function mailedPage(at: At, { method, email }: Mailed): PageBody {
  const { frame, path } = at;
  const { say } = frame;
  const texts = method === 'otp' ? 'otp' : 'link_sent';
  const by = hidden('method', method === 'otp' ? 'email_otp' : 'magic_link');
  const typed = form(`${path}/login`, by, mailedCodeField(at), mainButton(say('continue')));
  const again = plainForm(`${path}/login`, say(`${texts}.again`), by, hidden('email', email));
  return {
    title: say(`${texts}.title`),
    body: html`<p>${say(`${texts}.lead`, { email })}</p>
${typed}${again}${restart(at, 'sign_in.other_way')}`,
  };
}

/** Asks for the address of an account whose password was forgotten. */
export function forgottenPage(at: At): PageBody {
  const { frame, path } = at;
  const { say } = frame;
  return {
    title: say('forgotten.title'),
    body: html`<p>${say('forgotten.lead')}</p>
${form(`${path}/forgot-password`, emailField(at), mainButton(say('forgotten.submit')))}${restart(at, 'forgotten.back')}`,
  };
}

export function resetMailedPage(at: At, email: string): PageBody {
  const { frame, path } = at;
  const { say } = frame;
  const again = plainForm(
    `${path}/forgot-password`,
    say('link_sent.again'),
    hidden('email', email),
  );
  return {
    title: say('link_sent.title'),
    body: html`<p>${say('reset_sent.lead', { email })}</p>
${again}${restart(at, 'forgotten.back')}`,
  };
}

/** The target of the mailed link. Pressing its button signs in; opening the page does not. */
export function magicLinkPage(at: At): PageBody {
  const { say } = at.frame;
  const token = field({ name: 'token', label: say('link.paste'), autocomplete: 'off' });
  const parts = [hidden('method', 'magic_link'), token, mainButton(say('magic.submit'))];
  return {
    title: say('magic.title'),
    body: html`<p>${say('magic.lead')}</p>
${form(`${at.path}/login`, ...parts)}`,
    script: TOKEN_SCRIPT,
  };
}

export function secondFactorPage(at: At, { methods }: PendingSecondFactor): PageBody {
  const { frame, path, alert } = at;
  const { say } = frame;
  const has = (method: string) => methods.includes(method);
  const codeForm = (method: 'totp' | 'recovery', isFocused: boolean) =>
    form(
      `${path}/mfa`,
      hidden('method', method),
      field({
        name: 'code',
        label: say(`second.${method}`),
        autocomplete: 'one-time-code',
        isCode: method === 'totp' ? 'digits' : 'letters',
        maxLength: CODE_CHARACTERS_MAX,
        isFocused,
        isInvalid: alert !== undefined,
        id: `${method}-code`,
      }),
      mainButton(say('continue')),
    );
  const totp = has('totp') ? codeForm('totp', true) : NOTHING;
  const key = has('passkey')
    ? passkey(at, 'mfa', say('second.passkey'), { isMain: !has('totp') })
    : NOTHING;
  const line = has('totp') && has('passkey') ? orLine(say('or')) : NOTHING;
  const only =
    has('passkey') && !has('totp')
      ? html`<p data-without-passkey>${say('second.passkey_only')}</p>`
      : NOTHING;
  const recovery = has('recovery')
    ? html`<details><summary>${say('second.recovery.open')}</summary>${codeForm('recovery', false)}</details>`
    : NOTHING;
  return {
    title: say('second.title'),
    body: html`<p>${say('second.lead')}</p>
${totp}${line}${key}${only}${recovery}${restart(at, 'second.other_account')}`,
    script: has('passkey') ? PASSKEY_SCRIPT : undefined,
  };
}

export function enrolmentPage(at: At, { totp, methods }: PendingSecondFactor): PageBody {
  const { frame, view, path } = at;
  const { say } = frame;
  if (totp !== undefined) return appPage(at, totp);
  const app = form(
    `${path}/challenge`,
    hidden('method', 'totp'),
    html`<button>${say('enrol.totp')}</button>`,
  );
  const key = methods.includes('passkey')
    ? passkey(at, 'mfa', say('enrol.passkey'), { isMain: true })
    : NOTHING;
  return {
    title: say('enrol.title'),
    body: html`<p>${say('enrol.lead', { tenant: view.tenant.display_name })}</p>
${key}${app}${restart(at, 'second.other_account')}`,
    script: PASSKEY_SCRIPT,
  };
}

const SECRET_GROUP = /.{1,4}/g;

function appPage(at: At, totp: NonNullable<PendingSecondFactor['totp']>): PageBody {
  const { frame, path, alert } = at;
  const { say } = frame;
  const drawing = trusted(renderSVG(totp.url, { border: 1 }));
  const code = field({
    name: 'code',
    label: say('enrol.code'),
    autocomplete: 'one-time-code',
    isCode: 'digits',
    maxLength: CODE_CHARACTERS_MAX,
    isFocused: true,
    isInvalid: alert !== undefined,
  });
  const parts = [
    hidden('method', 'totp'),
    hidden('challenge_id', totp.challengeId),
    code,
    mainButton(say('enrol.submit')),
  ];
  const secret = (totp.secret.match(SECRET_GROUP) ?? []).join(' ');
  return {
    title: say('enrol.totp'),
    body: html`<p>${say('enrol.scan')}</p>
<div class="qr" role="img" aria-label="${say('enrol.picture')}">${drawing}</div>
<p>${say('enrol.key')} <code class="secret">${secret}</code></p>
${form(`${path}/mfa`, ...parts)}${restart(at, 'second.other_account')}`,
  };
}

export function recoveryCodesPage(
  frame: Frame,
  of: { readonly codes: readonly string[]; readonly to: string },
): PageBody {
  const { say } = frame;
  return {
    title: say('codes.title'),
    body: html`<p>${say('codes.lead')}</p>
<ul class="codes" id="codes" aria-label="${say('codes.list')}">${of.codes.map((code) => html`<li>${code}</li>`)}</ul>
${saveBar(frame, { shownId: 'codes', fileName: say('codes.file') })}${mainLink(of.to, say('codes.continue'))}`,
    script: SAVE_SCRIPT,
  };
}
