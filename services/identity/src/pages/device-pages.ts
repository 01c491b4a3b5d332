/** The pages at which a person enters a device's code, compares it, and sees that the device is connected. */
import {
  field,
  form,
  type Html,
  hidden,
  html,
  type Markup,
  mainButton,
  NOTHING,
  page,
  plainPage,
} from '@cardea/pages';
import type { Frame, TextKey } from './frame.ts';

const ACTION = '/oauth2/device';
const CODE_CHARACTERS_MAX = 64;

export const deviceCodePage = (
  frame: Frame,
  of: {
    readonly secret: string;
    readonly fault: TextKey | undefined;
    readonly typed: string | undefined;
  },
): Html => {
  const { say } = frame;
  const { fault } = of;
  const code = field({
    name: 'user_code',
    label: say('device.code'),
    autocomplete: 'off',
    isCode: 'letters',
    value: of.typed,
    maxLength: CODE_CHARACTERS_MAX,
    isFocused: true,
    isInvalid: fault !== undefined,
  });
  const parts = [hidden('xsrf', of.secret), code, mainButton(say('continue'))];
  return page(frame, {
    title: say('device.title'),
    alert: fault === undefined ? undefined : say(fault),
    body: html`<p>${say('device.lead')}</p>
${form(ACTION, ...parts)}`,
  });
};

export const deviceConfirmPage = (
  frame: Frame,
  of: {
    readonly secret: string;
    readonly userCode: string;
    readonly client: string;
    readonly scopes: readonly string[];
  },
): Html => {
  const { say } = frame;
  const own = [hidden('xsrf', of.secret), hidden('user_code', of.userCode)];
  return page(frame, {
    title: say('device.title'),
    body: html`<p>${say('device.confirm.lead', { client: of.client })}</p>
${shownCode(of.userCode)}${listOf(frame, of.scopes)}<div class="note"><p>${say('device.confirm.warning')}</p></div>
${form(ACTION, ...own, hidden('confirm', 'yes'), mainButton(say('continue')))}${form(ACTION, ...own, hidden('abort', 'yes'), html`<button>${say('device.confirm.deny')}</button>`)}`,
  });
};

/** Shows the code large enough to compare it with another screen. */
export const shownCode = (userCode: string): Markup =>
  html`<p><code class="secret">${userCode}</code></p>
`;

const listOf = ({ say }: Frame, scopes: readonly string[]): Markup =>
  scopes.length === 0
    ? NOTHING
    : html`<h2 id="scopes">${say('device.confirm.scopes')}</h2>
<ul class="scopes" aria-labelledby="scopes">${scopes.map((scope) => html`<li><span class="fixed">${scope}</span></li>`)}</ul>
`;

export const deviceDonePage = (frame: Frame): Html =>
  plainPage(frame, frame.say('device.done.title'), frame.say('device.done.lead'));
