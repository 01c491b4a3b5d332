/** The forms with which a person changes their sign-in methods. */
import { html, type PageBody, SAVE_SCRIPT, saveBar, trusted } from '@cardea/pages';
import { renderSVG } from 'uqr';
import { type AccountEndpoints, type AccountPage, formOf } from './endpoints.ts';
import type { Named, SecurityData } from './security-data.ts';

type Page = AccountPage<SecurityData>;
type Params = { readonly [name: string]: string };

export const securityForms = (endpoints: AccountEndpoints) => ({
  ...factorForms(endpoints),
  ...passkeyForms(endpoints),
  password: formOf(endpoints.changePassword, {
    title: 'password.change',
    submit: 'password.submit',
    done: 'password.done',
    opens: ({ frame: { say } }: Page) => say('password.lead'),
    fields: [
      { name: 'current_password', label: 'password.current', kind: 'password' },
      { name: 'new_password', label: 'password.new', kind: 'new_password' },
    ],
  }),
  unlink: formOf(endpoints.unlinkIdentity, {
    title: 'linked.unlink_title',
    submit: 'linked.unlink',
    done: 'linked.done',
    fields: [],
    opens: ({ frame: { say } }: Page, { provider: name = '' }) =>
      say('linked.unlink_lead', { name }),
  }),
});

const factorForms = (endpoints: AccountEndpoints) => ({
  enrol_totp: formOf(endpoints.enrolTotp, {
    title: 'totp.add',
    submit: 'totp.begin',
    fields: [{ name: 'name', label: 'passkey.name', help: 'passkey.name_help' }],
    opens: ({ frame: { say } }: Page) => say('totp.lead'),
    once: totpPage,
  }),
  confirm_totp: formOf(endpoints.confirmTotp, {
    title: 'totp.confirm',
    submit: 'totp.submit',
    fields: [{ name: 'code', label: 'totp.code', kind: 'digits' }],
    opens: ({ frame: { say } }: Page) => say('totp.confirm_lead'),
    once: codesPage,
  }),
  remove_factor: formOf(endpoints.removeFactor, {
    title: 'totp.remove_title',
    submit: 'passkey.remove',
    done: 'totp.removed',
    fields: [],
    opens: ({ frame: { say }, data }: Page, params) =>
      say('totp.remove_lead', { name: nameOf(data.mfa.factors, params) ?? say('totp.unnamed') }),
  }),
  renew_codes: formOf(endpoints.recoveryCodes, {
    title: 'codes.renew',
    submit: 'codes.renew',
    fields: [],
    opens: ({ frame: { say }, data }: Page) =>
      say('codes.renew_lead', { count: String(data.mfa.recovery_codes_remaining) }),
    once: codesPage,
  }),
});

const passkeyForms = (endpoints: AccountEndpoints) => ({
  add_passkey: formOf(endpoints.addPasskey, {
    title: 'passkey.add',
    submit: 'passkey.add',
    done: 'passkey.added',
    passkey: endpoints.passkeyOptions,
    opens: ({ frame: { say } }: Page) => say('passkeys.lead'),
    fields: [
      { name: 'name', label: 'passkey.name', help: 'passkey.name_help' },
      { name: 'challenge_id', label: 'passkey.add' },
      { name: 'response', label: 'passkey.add' },
    ],
  }),
  rename_passkey: formOf(endpoints.renamePasskey, {
    title: 'passkey.rename_title',
    submit: 'passkey.rename',
    done: 'passkey.renamed',
    opens: ({ frame: { say } }: Page) => say('passkey.name_help'),
    current: ({ keys }: SecurityData, { id }) => ({
      name: keys.passkeys.find((each) => each.id === id)?.name,
    }),
    fields: [{ name: 'name', label: 'passkey.name' }],
  }),
  remove_passkey: formOf(endpoints.removePasskey, {
    title: 'passkey.remove_title',
    submit: 'passkey.remove',
    done: 'passkey.removed',
    fields: [],
    opens: ({ frame: { say }, data }: Page, params) =>
      say('passkey.remove_lead', {
        name: nameOf(data.keys.passkeys, params) ?? say('passkeys.unnamed'),
      }),
  }),
});

const nameOf = (list: readonly Named[], { id }: Params): string | undefined =>
  list.find((each) => each.id === id)?.name ?? undefined;

const SECRET_GROUP = /.{1,4}/g;

/** The secret is shown only this once. Its first code activates it. */
function totpPage(
  page: Page,
  made: { readonly factor_id: string; readonly secret: string; readonly otpauth_url: string },
): PageBody {
  const { say } = page.frame;
  const secret = (made.secret.match(SECRET_GROUP) ?? []).join(' ');
  return {
    title: say('totp.add'),
    width: 'form',
    body: html`<p>${say('totp.scan')}</p>
<div class="qr" role="img" aria-label="${say('totp.picture')}"><span aria-hidden="true">${trusted(renderSVG(made.otpauth_url, { border: 1 }))}</span></div>
<p>${say('totp.key')} <code class="secret">${secret}</code></p>
${page.form('confirm_totp', { params: { id: made.factor_id }, isHere: true })}`,
  };
}

function codesPage(
  { frame, path }: Page,
  made: { readonly recovery_codes: readonly string[] },
): PageBody {
  const { say } = frame;
  return {
    title: say('codes.shown'),
    width: 'form',
    body: html`<p>${say('codes.shown_lead')}</p>
<ul class="codes" id="codes" aria-label="${say('codes.list')}">${made.recovery_codes.map((code) => html`<li>${code}</li>`)}</ul>
${saveBar(frame, { shownId: 'codes', fileName: say('codes.file') })}<p><a class="button main" href="${path}">${say('codes.back')}</a></p>`,
    script: SAVE_SCRIPT,
  };
}
