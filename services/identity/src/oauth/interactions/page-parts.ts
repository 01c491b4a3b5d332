/** The input and the parts that several pages of an interaction share. */
import { field, type Markup, plainForm } from '@cardea/pages';
import type { Frame } from '../../pages/frame.ts';
import type { InteractionView } from './interaction-view.ts';
import { CODE_CHARACTERS_MAX, EMAIL_CHARACTERS_MAX } from './typed-fields.ts';

export type At = {
  readonly frame: Frame;
  readonly view: InteractionView;
  /** The path of the interaction's page. */
  readonly path: string;
  readonly alert?: string | undefined;
  /** The e-mail address that was typed before; the page shows it again. */
  readonly email?: string | undefined;
  readonly displayName?: string | undefined;
  /** The address of the deployment. Links to providers start with it. */
  readonly publicUrl: string;
  readonly tenantId: string;
};

export const abort = ({ frame, path }: At): Markup =>
  plainForm(`${path}/abort`, frame.say('sign_in.abort'));
type RestartText =
  | 'create.sign_in'
  | 'forgotten.back'
  | 'second.other_account'
  | 'sign_in.other_way';
export const restart = ({ frame, path }: At, key: RestartText): Markup =>
  plainForm(`${path}/restart`, frame.say(key));

/** Shows the address that was typed before, otherwise the application's `login_hint`. */
export const emailField = (
  { frame: { say }, view, email, alert }: At,
  of: {
    readonly autocomplete?: string;
    readonly isFocused?: boolean;
    readonly isInvalid?: boolean;
  } = {},
): Markup =>
  field({
    name: 'email',
    label: say('email'),
    type: 'email',
    autocomplete: of.autocomplete ?? 'username',
    value: email ?? view.login_hint ?? '',
    maxLength: EMAIL_CHARACTERS_MAX,
    isFocused: of.isFocused ?? true,
    isInvalid: of.isInvalid ?? alert !== undefined,
  });

/** The field for a mailed code. */
export const mailedCodeField = ({ frame: { say }, alert }: At): Markup =>
  field({
    name: 'code',
    label: say('otp.code'),
    autocomplete: 'one-time-code',
    isCode: 'letters',
    maxLength: CODE_CHARACTERS_MAX,
    isFocused: true,
    isInvalid: alert !== undefined,
  });
