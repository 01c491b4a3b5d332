/** The markup of a form, derived from the schema of the body that it sends. */
import { randomUUID } from 'node:crypto';
import type { Fault } from '@cardea/http';
import { hidden, revealing, revealingSecret } from '../fields.ts';
import { html, type Markup, NOTHING } from '../markup.ts';
import type { Say } from '../texts/texts.ts';
import { shownName } from './changed-fields.ts';
import { type Called, curlDetails } from './curl-line.ts';
import { choicesOf, isSecret, propertyOf, type Typed, textOfValue } from './form-body.ts';
import type { FormField, FormUse, PageForm, Strings } from './page-of.ts';
import { PROOF_ALONE } from './proof-view.ts';

/** The hidden field that names the object, by the parameter of the endpoint. */
export const paramName = (name: string): string => `param.${name}`;
export const CONFIRMED = 'confirmed_by';
/** The rule of a fault that the page's alert describes. */
export const AT_FIELD = 'refused';

export type FormContext<Key extends string> = {
  readonly say: Say<Key>;
  readonly path: string;
  readonly formToken: string;
  /** The typed values of the form that was refused. */
  readonly typed: Typed;
  readonly pressed: string | undefined;
  readonly faults: readonly Fault[];
  /** The current values of fields that another client has changed. */
  readonly conflicts: Typed;
  readonly called: Omit<Called, 'endpoint' | 'body'>;
  readonly userId: string;
};

export type Drawn<Key extends string> = FormContext<Key> & {
  readonly name: string;
  readonly form: PageForm<Key, never>;
  readonly use: FormUse;
  /** The values that the fields show, unless something was typed. */
  readonly current: { readonly [field: string]: unknown };
  /** Fields to confirm the sign-in with the same click. */
  readonly proof?: Markup | undefined;
  /** Whether the form itself comes after the confirmation. */
  readonly isProofAlone?: boolean;
  /** Whether only the passkey's own button submits something. */
  readonly isByPasskey?: boolean;
  /** Whether the page shows only this form. */
  readonly isAlone?: boolean;
  /** The text that has to be typed first. */
  readonly confirmedBy?: string | undefined;
};

/** The members of the body that the person does not type. */
export const presetOf = <Key extends string, Data>(
  { preset }: Pick<PageForm<Key, Data>, 'preset'>,
  userId: string,
): object => (typeof preset === 'function' ? preset(userId) : (preset ?? {}));

/**
 * A link to the page that shows the form alone. In a row that already names the object, the link names only the action.
 */
export function formLink<Key extends string>(drawn: Drawn<Key>): Markup {
  const { say, path, name, form, use } = drawn;
  const search = new URLSearchParams({ form: name });
  for (const [param, value] of Object.entries(use.params ?? {})) {
    search.set(paramName(param), value);
  }
  return html`<a class="button" href="${path}?${search.toString()}">${say(use.about === undefined ? form.title : form.submit)}${aboutOf(use)}</a>`;
}

export function formMarkup<Key extends string>(drawn: Drawn<Key>): Markup {
  const { say, name, form, use, formToken, path } = drawn;
  const fields = form.fields.filter((field) => use.without?.includes(field.name) !== true);
  const params = Object.entries(use.params ?? {}).map(([param, value]) =>
    hidden(paramName(param), value),
  );
  const attributes =
    form.passkey === undefined
      ? NOTHING
      : html` data-challenge="${path}?part=passkey&amp;form=${name}" data-get hidden`;
  const isMain = fields.length > 0 || drawn.isAlone === true;
  const submit =
    drawn.isByPasskey === true
      ? NOTHING
      : html`<button${isMain ? html` class="main"` : NOTHING}>${say(form.submit)}${aboutOf(use)}</button>`;
  return html`<form method="post" action="${path}"${attributes}>${hidden('form', name)}${hidden('form_token', formToken)}${hidden('key', randomUUID())}${params}${drawn.isProofAlone === true ? hidden(PROOF_ALONE, 'yes') : NOTHING}${fields.map((field) => fieldMarkup(drawn, field))}${confirmation(drawn)}${drawn.proof}${submit}${passkeyEnd(drawn)}</form>
${form.passkey === undefined ? NOTHING : html`<p data-without-passkey>${say('passkey.unable')}</p>`}`;
}

const aboutOf = ({ about }: FormUse): Markup =>
  about === undefined ? NOTHING : html`<span class="heard"> ${about}</span>`;

/** A script fills the fields in, and then submits the form. */
const passkeyEnd = <Key extends string>({ form, say }: Drawn<Key>): Markup =>
  form.passkey === undefined
    ? NOTHING
    : html`${hidden('challenge_id', '')}${hidden('response', '')}<div class="alert" role="alert" hidden><p>${say('passkey.failed')}</p></div>`;

function confirmation<Key extends string>(drawn: Drawn<Key>): Markup {
  const { say, name, confirmedBy, pressed, form } = drawn;
  if (confirmedBy === undefined) return NOTHING;
  const isPressed = pressed === name;
  const ofIt = [CONFIRMED, form.confirmedAs];
  const isWrong = isPressed && drawn.faults.some(({ field }) => ofIt.includes(field));
  const id = `${name}-confirmed`;
  const value = isPressed ? (drawn.typed[CONFIRMED] ?? '') : '';
  return html`<div class="field"><label for="${id}">${say('confirm.type', { name: confirmedBy })}</label><input id="${id}" name="${CONFIRMED}" autocomplete="off" autocapitalize="none" spellcheck="false" required${isWrong ? html` aria-invalid="true" aria-describedby="alert"` : NOTHING}${value === '' ? NOTHING : html` value="${value}"`}></div>
`;
}

/** The markup of one field: the value to show, a hidden copy of the value first shown, and the faults. */
function fieldMarkup<Key extends string>(drawn: Drawn<Key>, field: FormField<Key>): Markup {
  const { say, form, name: formName } = drawn;
  const { name, kind = 'text' } = field;
  const isPasskeys = form.passkey !== undefined && (name === 'challenge_id' || name === 'response');
  if (isPasskeys) return NOTHING;
  const { property, isRequired, isNullable } = propertyOf(form.endpoint, name);
  const isPressed = drawn.pressed === formName && isSame(drawn.typed, drawn.use.params ?? {});
  const was = textOfValue(drawn.current[name], kind);
  const shown = isPressed ? (drawn.typed[name] ?? '') : was;
  const fault = isPressed ? drawn.faults.find((each) => each.field === name) : undefined;
  const theirs = isPressed ? drawn.conflicts[name] : undefined;
  const id = `${formName}-${name.replaceAll('.', '-')}`;
  const notes: readonly (readonly [string, string] | undefined)[] = [
    field.help === undefined ? undefined : [`${id}-hint`, say(field.help)],
    fault === undefined || fault.rule === AT_FIELD
      ? undefined
      : [`${id}-fault`, faultText(say, fault)],
    theirs === undefined
      ? undefined
      : [`${id}-theirs`, say('form.theirs', { value: theirs === '' ? '–' : theirs })],
  ];
  const shownNotes = notes.filter((note) => note !== undefined);
  const described = [
    ...shownNotes.map(([of]) => of),
    ...(fault?.rule === AT_FIELD ? ['alert'] : []),
  ].join(' ');
  const common = html` id="${id}" name="${name}"${described === '' ? NOTHING : html` aria-describedby="${described}"`}${fault === undefined ? NOTHING : html` aria-invalid="true"`}`;
  const control = controlOf({
    field,
    property,
    isRequired: isRequired && !isNullable,
    common,
    id,
    say,
    value: isSecret(field) ? '' : shown,
  });
  const hints = shownNotes.map(
    ([of, text]) =>
      html`<span class="${of.endsWith('-hint') ? 'hint' : 'fault'}" id="${of}">${text}</span>`,
  );
  const before =
    form.endpoint.contract.method === 'patch'
      ? hidden(shownName(name), theirs ?? (isPressed ? (drawn.typed[shownName(name)] ?? was) : was))
      : NOTHING;
  return html`<div class="field${kind === 'code' || kind === 'digits' ? ' code' : ''}">${property.type === 'boolean' ? NOTHING : html`<label for="${id}">${say(field.label)}</label>`}${control}${hints}</div>${before}
`;
}

const isSame = (typed: Typed, params: Strings): boolean =>
  Object.entries(params).every(([name, value]) => typed[paramName(name)] === value);

type Control<Key extends string> = {
  readonly field: FormField<Key>;
  readonly property: ReturnType<typeof propertyOf>['property'];
  readonly isRequired: boolean;
  readonly common: Markup;
  readonly id: string;
  readonly say: Say<Key>;
  readonly value: string;
};

const TYPES = {
  text: 'text',
  email: 'email',
  password: 'password',
  new_password: 'password',
  secret: 'password',
  code: 'text',
  digits: 'text',
  lines: 'text',
  time: 'datetime-local',
} as const;
const AUTOCOMPLETE = {
  text: 'off',
  email: 'email',
  password: 'current-password',
  new_password: 'new-password',
  secret: 'off',
  code: 'one-time-code',
  digits: 'one-time-code',
  lines: 'off',
  time: 'off',
} as const;

function controlOf<Key extends string>(of: Control<Key>): Markup {
  const { field, property, common, id, say, value } = of;
  const { kind = 'text' } = field;
  const required = of.isRequired ? html` required` : NOTHING;
  if (property.type === 'boolean') {
    return html`<label class="choice"><input type="checkbox" value="true"${common}${value === 'true' ? html` checked` : NOTHING}> ${say(field.label)}</label>`;
  }
  const options =
    field.options?.map((each) => ({ value: each.value, text: say(each.label) })) ??
    choicesOf(property).map((each) => ({ value: each, text: each }));
  if (options.length > 0) {
    const known = options.some((each) => each.value === value) || value === '';
    const all = known ? options : [...options, { value, text: value }];
    const none = all.some((each) => each.value === '') || of.isRequired;
    return html`<select${common}${required}>${none ? NOTHING : html`<option value="">–</option>`}${all.map((each) => html`<option value="${each.value}"${each.value === value ? html` selected` : NOTHING}>${each.text}</option>`)}</select>`;
  }
  if (kind === 'lines' || property.type === 'array') {
    return html`<textarea rows="4"${common}${required}>${value}</textarea>`;
  }
  const { maxLength } = property;
  const reveal = kind === 'secret' ? revealingSecret(say) : revealing(say);
  const button =
    TYPES[kind] === 'password'
      ? html`<button type="button" class="plain reveal" data-reveals="${id}" data-hide="${reveal.hide}" hidden>${reveal.show}</button>`
      : NOTHING;
  return html`<input type="${TYPES[kind]}" autocomplete="${field.autocomplete ?? AUTOCOMPLETE[kind]}"${common}${required}${maxLength === undefined ? NOTHING : html` maxlength="${maxLength}"`}${kind === 'digits' ? html` inputmode="numeric"` : NOTHING}${kind === 'code' ? html` autocapitalize="characters" spellcheck="false"` : NOTHING}${value === '' ? NOTHING : html` value="${value}"`}>${button}`;
}

const FAULTS = {
  required: 'fault.required',
  min_length: 'fault.min_length',
  max_length: 'fault.max_length',
  enum: 'fault.enum',
} as const;

function faultText<Key extends string>(say: Say<Key>, { rule, limit }: Fault): string {
  const key = Object.hasOwn(FAULTS, rule) ? FAULTS[rule as keyof typeof FAULTS] : 'fault.other';
  return say(key, { limit: String(limit ?? '') });
}

/** The call that a form makes, with the values that its fields show. Secrets are variables. */
export function formCurl<Key extends string>(drawn: Drawn<Key>): Markup {
  const { form, use, called, current, say } = drawn;
  const { endpoint } = form;
  const entries = form.fields.map((field) => {
    const name = field.name;
    const variable = `$${name.replaceAll('.', '_').toUpperCase()}`;
    const value = isSecret(field) || current[name] === undefined ? variable : current[name];
    return [name, value] as const;
  });
  const confirmation =
    form.confirmedAs === undefined ? [] : [[form.confirmedAs, drawn.confirmedBy] as const];
  const body = {
    ...presetOf(form, drawn.userId),
    ...Object.fromEntries([...entries, ...confirmation]),
  };
  const params = { ...called.params, ...use.params };
  return curlDetails({ say }, { ...called, endpoint, params, body });
}
