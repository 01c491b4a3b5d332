/** The pages at which people register: the form, and the page that waits for the mailed proof of the address. */
import {
  field,
  form,
  html,
  mainButton,
  type PageBody,
  plainForm,
  revealing,
  SHOW_PASSWORD_SCRIPT,
} from '@cardea/pages';
import type { PendingRegistration } from '../../authentication/authentication.module.ts';
import { TOKEN_SCRIPT } from '../../pages/token-script.ts';
import { type At, abort, emailField, mailedCodeField, restart } from './page-parts.ts';

const NAME_CHARACTERS_MAX = 128;
const PASSWORD_CHARACTERS_MIN = 8;

export function registrationPage(at: At): PageBody {
  const { frame, view, path, alert, displayName } = at;
  const { say } = frame;
  const isInvalid = alert !== undefined;
  const minLength = view.registration?.password_min ?? PASSWORD_CHARACTERS_MIN;
  const name = field({
    name: 'display_name',
    label: say('create.name'),
    autocomplete: 'name',
    value: displayName ?? '',
    maxLength: NAME_CHARACTERS_MAX,
    isOptional: true,
  });
  const password = field({
    name: 'password',
    label: say('password'),
    type: 'password',
    autocomplete: 'new-password',
    hint: say('reset.hint', { min: String(minLength) }),
    minLength,
    isInvalid,
    reveal: revealing(say),
  });
  return {
    title: say('create.title'),
    body: html`<p class="muted">${say('sign_in.lead', { client: view.client.name })}</p>
${form(`${path}/register`, emailField(at), name, password, mainButton(say('create.submit')))}${restart(at, 'create.sign_in')}${abort(at)}`,
    script: SHOW_PASSWORD_SCRIPT,
  };
}

/** The page does not reveal whether the address was taken. Only the mail does. */
export function registeredPage(at: At, { email }: PendingRegistration): PageBody {
  const { frame, path } = at;
  const { say } = frame;
  return {
    title: say('link_sent.title'),
    body: html`<p>${say('created.lead', { email })}</p>
${form(`${path}/verify-email`, mailedCodeField(at), mainButton(say('continue')))}${plainForm(`${path}/verify-email`, say('created.again'))}${restart(at, 'create.sign_in')}`,
  };
}

/** The target of the mailed link. Pressing its button proves the address; opening the page does not. */
export function proofPage({ frame: { say }, path }: At): PageBody {
  const token = field({ name: 'token', label: say('link.paste'), autocomplete: 'off' });
  return {
    title: say('verify.title'),
    body: html`<p>${say('verify.lead')}</p>
${form(`${path}/verify-email`, token, mainButton(say('verify.submit')))}`,
    script: TOKEN_SCRIPT,
  };
}
