/** Fields that several requests share. Their handlers check the format and answer with specific codes. */
import { documented } from '@cardea/contracts';
import Type from 'typebox';

const EMAIL_CHARACTERS_MAX = 254;
const PASSWORD_CHARACTERS_MIN = 8;
const PASSWORD_CHARACTERS_MAX = 128;
const NAME_CHARACTERS_MAX = 128;
const ADDRESS_CHARACTERS_MAX = 2_048;
/**
 * Control characters, line separators, and characters that change the reading direction. `isHonestName` has the same
 * list.
 */
const DECEPTIVE =
  '\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069';
/** Surrounding white space of all kinds is removed. */
export const NAME = `^\\s*[^${DECEPTIVE}]*\\s*$`;
export const FILLED_NAME = `^\\s*[^\\s${DECEPTIVE}][^${DECEPTIVE}]*\\s*$`;

export const nullable = <Schema extends Type.TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);

/** An invalid address is refused with 400 `invalid_email`. */
export const emailField = documented(Type.String(), {
  format: 'email',
  maxLength: EMAIL_CHARACTERS_MAX,
});

/** Refused with 400 `password_too_short` or `password_too_long`. A tenant may require more. */
export const newPasswordField = documented(Type.String(), {
  minLength: PASSWORD_CHARACTERS_MIN,
  maxLength: PASSWORD_CHARACTERS_MAX,
});

export const displayNameField = documented(Type.String(), {
  maxLength: NAME_CHARACTERS_MAX,
  pattern: NAME,
});

/** The length is checked before the pattern, whose time grows with the square of the length. */
export const filledNameField = Type.String({
  minLength: 1,
  maxLength: NAME_CHARACTERS_MAX,
  pattern: FILLED_NAME,
});

/** An https URL without a user name. */
export const avatarUrlField = documented(Type.String(), {
  format: 'uri',
  pattern: '^https://',
  maxLength: ADDRESS_CHARACTERS_MAX,
});

/** An IPv4 or IPv6 address, or a network of addresses. */
export const networkField = documented(Type.String({ maxLength: 64 }), {
  pattern: networkPattern(),
});

function networkPattern(): string {
  const octet = '(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])';
  const ipv4 = `${octet}(?:\\.${octet}){3}(?:/(?:3[0-2]|[12]?[0-9]))?`;
  const group = '[0-9a-fA-F]{1,4}';
  const shortened = [1, 2, 3, 4, 5, 6].map(
    (before) => `(?:${group}:){${before}}(?::${group}){1,${7 - before}}`,
  );
  const forms = [
    `(?:${group}:){7}${group}`,
    ...shortened,
    `(?:${group}:){1,7}:`,
    `:(?::${group}){1,7}`,
    '::',
  ];
  const ipv6 = `(?:${forms.join('|')})(?:/(?:12[0-8]|1[01][0-9]|[1-9]?[0-9]))?`;
  return `^(?:${ipv4}|${ipv6})$`;
}
