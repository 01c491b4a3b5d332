/** The maximum lengths of fields at the hosted pages, for the forms and for the posted values. */
import Type from 'typebox';

export const EMAIL_CHARACTERS_MAX = 254;
const PASSWORD_CHARACTERS_MAX = 1_024;
export const CODE_CHARACTERS_MAX = 64;
const TOKEN_CHARACTERS_MAX = 2_048;

export const text = (maxLength: number) => Type.Optional(Type.String({ maxLength }));

export const emailText = text(EMAIL_CHARACTERS_MAX);
export const passwordText = text(PASSWORD_CHARACTERS_MAX);
export const codeText = text(CODE_CHARACTERS_MAX);
export const tokenText = text(TOKEN_CHARACTERS_MAX);
