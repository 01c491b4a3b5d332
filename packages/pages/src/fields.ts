/** The pieces of which forms are made. */
import { html, type Markup, NOTHING } from './markup.ts';
import type { Say } from './texts/texts.ts';

type Field = {
  readonly name: string;
  /** The field's name, unless the page has another field of that name. */
  readonly id?: string;
  readonly label: string;
  readonly type?: 'text' | 'email' | 'password';
  readonly autocomplete: string;
  readonly value?: string | undefined;
  readonly hint?: string;
  /** A short code that is typed from another device. */
  readonly isCode?: 'digits' | 'letters';
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly isFocused?: boolean;
  /** Whether the field is wrong. The page's alert then becomes its description. */
  readonly isInvalid?: boolean;
  readonly isOptional?: boolean;
  /** For a password: the texts of the button that shows it. `SHOW_PASSWORD_SCRIPT` activates the button. */
  readonly reveal?: { readonly show: string; readonly hide: string };
};

/** Each field has a label, and its hint and the page's alert are its description. */
export function field(of: Field): Markup {
  const { name, id = name, label, type = 'text', hint, isCode, isInvalid = false } = of;
  const described = [
    ...(hint === undefined ? [] : [`${id}-hint`]),
    ...(isInvalid ? ['alert'] : []),
  ].join(' ');
  const attributes = [
    html` id="${id}" name="${name}" type="${type}" autocomplete="${of.autocomplete}"`,
    ...(of.isOptional === true ? [] : [html` required`]),
    ...(of.value === undefined ? [] : [html` value="${of.value}"`]),
    ...(of.minLength === undefined ? [] : [html` minlength="${of.minLength}"`]),
    ...(of.maxLength === undefined ? [] : [html` maxlength="${of.maxLength}"`]),
    ...(isCode === 'digits' ? [html` inputmode="numeric"`] : []),
    ...(isCode === undefined ? [] : [html` autocapitalize="characters" spellcheck="false"`]),
    ...(described === '' ? [] : [html` aria-describedby="${described}"`]),
    ...(isInvalid ? [html` aria-invalid="true"`] : []),
    ...(of.isFocused === true && !isInvalid ? [html` autofocus`] : []),
  ];
  return html`<div class="field${isCode === undefined ? '' : ' code'}"><label for="${id}">${label}</label>
<input${attributes}>${revealOf(id, of.reveal)}${hint === undefined ? NOTHING : html`<span class="hint" id="${id}-hint">${hint}</span>`}</div>
`;
}

/** The texts of the button beside a password field. */
export const revealing = (say: Say): NonNullable<Field['reveal']> => ({
  show: say('password.show'),
  hide: say('password.hide'),
});

/** The texts of the button beside a field for a secret that is no password. */
export const revealingSecret = (say: Say): NonNullable<Field['reveal']> => ({
  show: say('secret.show'),
  hide: say('secret.hide'),
});

/** The button is hidden until the script activates it. */
const revealOf = (id: string, reveal: Field['reveal']): Markup =>
  reveal === undefined
    ? NOTHING
    : html`<button type="button" class="plain reveal" data-reveals="${id}" data-hide="${reveal.hide}" hidden>${reveal.show}</button>`;

export const hidden = (name: string, value: string): Markup =>
  html`<input type="hidden" name="${name}" value="${value}">`;

export const form = (action: string, ...parts: readonly Markup[]): Markup =>
  html`<form method="post" action="${action}">${parts}</form>
`;

export const mainButton = (text: string): Markup => html`<button class="main">${text}</button>`;

/** A form with one button that leads away from the page's task. */
export const plainForm = (action: string, text: string, ...parts: readonly Markup[]): Markup =>
  form(action, ...parts, html`<button class="plain">${text}</button>`);

export const orLine = (text: string): Markup => html`<div class="or">${text}</div>
`;

export const mainLink = (href: string, text: string): Markup =>
  html`<a class="button main" href="${href}">${text}</a>
`;

/**
 * Buttons to save what is shown once. They are hidden until `SAVE_SCRIPT` activates them. `shownId` is the element with
 * the text.
 */
export const saveBar = (
  { say }: { readonly say: Say },
  { shownId, fileName }: { readonly shownId: string; readonly fileName: string },
): Markup =>
  html`<div class="saves" data-saves="${shownId}" data-file="${fileName}" data-copied="${say('save.copied')}" data-failed="${say('save.failed')}" hidden><button type="button" data-does="copy">${say('save.copy')}</button><button type="button" data-does="download">${say('save.download')}</button><button type="button" data-does="print">${say('save.print')}</button><p role="status"></p></div>
`;

/**
 * A passkey needs the browser's programming interface. The script that can use it shows the form, fills it in and
 * submits it like any other.
 */
export const passkeyForm = (of: {
  readonly action: string;
  readonly challenge: string;
  readonly text: string;
  readonly failed: string;
  readonly isMain?: boolean;
  /** Whether browsers that support it offer passkeys at the address field (`autocomplete="webauthn"`). */
  readonly isOffered?: boolean;
}): Markup =>
  html`<form method="post" action="${of.action}" data-challenge="${of.challenge}"${of.isOffered === true ? html` data-offered` : NOTHING} hidden>${hidden('method', 'passkey')}${hidden('challenge_id', '')}${hidden('response', '')}<button${of.isMain === true ? html` class="main"` : NOTHING}>${of.text}</button><div class="alert" role="alert" hidden><p>${of.failed}</p></div></form>
`;
