/**
 * The fields of a user's profile, each declared once. The data of events, the user's state, the columns of the table,
 * and the bodies and answers of requests are derived from `FIELDS`. Each field is a text that may be null.
 */
import { documented } from '@cardea/contracts';
import type { Sealed } from '@cardea/crypto';
import { orNull } from '@cardea/read-models';
import { isHonestName } from '@cardea/runtime';
import Type from 'typebox';
import { avatarUrlField, displayNameField, NAME, nullable } from './input-fields.ts';

const DISPLAY_NAME_CHARACTERS_MAX = 128;
const AVATAR_URL_CHARACTERS_MAX = 2_048;
const USERNAME_CHARACTERS_MAX = 64;
const LOCALE_CHARACTERS_MAX = 35;

/**
 * `inState` is the name in the user's state, `input` the form in requests. `read` returns the stored form, or undefined
 * if the text is invalid.
 */
const FIELDS = {
  display_name: {
    inState: 'displayName',
    input: displayNameField,
    read: displayName,
  },
  avatar_url: {
    inState: 'avatarUrl',
    input: avatarUrlField,
    read: avatarUrl,
  },
  /** A BCP 47 tag: the language of mails to the user. */
  locale: {
    inState: 'locale',
    input: documented(Type.String(), {
      pattern: '^([A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?)?$',
      maxLength: LOCALE_CHARACTERS_MAX,
      examples: ['de-AT'],
    }),
    read: locale,
  },
  /** Usernames need not be unique, because nobody signs in by them. */
  preferred_username: {
    inState: 'preferredUsername',
    input: documented(Type.String(), { maxLength: USERNAME_CHARACTERS_MAX, pattern: NAME }),
    read: (text: string | null) => nameOf(text, USERNAME_CHARACTERS_MAX),
  },
} as const;

export type ProfileField = keyof typeof FIELDS;
export const PROFILE_FIELDS = Object.keys(FIELDS) as readonly ProfileField[];
/** The fields that the event of a registration contains. The others are set by a later event. */
const REGISTERED_FIELDS = ['display_name', 'avatar_url'] as const;
type RegisteredField = (typeof REGISTERED_FIELDS)[number];
/** The fields that only a later event sets. */
export const LATER_FIELDS: readonly ProfileField[] = PROFILE_FIELDS.filter(
  (field) => !REGISTERED_FIELDS.some((registered) => registered === field),
);

/** A field that is missing stays unchanged; null clears it. */
export type Profile<Value> = { readonly [field in ProfileField]?: Value | null };
export type SealedProfile = Profile<Sealed>;

type NamesInState = { readonly [field in ProfileField]: (typeof FIELDS)[field]['inState'] };
export const NAMES_IN_STATE = ofEach((field) => FIELDS[field].inState) as NamesInState;
/** The profile under the names of the user's state. */
export type ProfileInState<Value> = {
  readonly [field in ProfileField as NamesInState[field]]: Value | null;
};
/** States that were stored before a field existed do not have it. */
export type ProfileFacts = Partial<ProfileInState<Sealed>> &
  Pick<ProfileInState<Sealed>, NamesInState[RegisteredField]>;

/** The fields in requests. Null clears a field. */
export const profileInputFields = ofEach((field) => Type.Optional(nullable(FIELDS[field].input)));
/** The fields in answers. */
export const profileAnswerFields = ofEach(() => nullable(Type.String()));
/** The columns of the table. */
export const profileColumns = ofEach(() => orNull('text'));
export const NO_PROFILE = ofEach(() => null);

/** The fields of an answer. */
export function shownProfile(profile: ProfileInState<string>) {
  const shown: { [field: string]: string | null } = {};
  for (const field of PROFILE_FIELDS) shown[field] = profile[NAMES_IN_STATE[field]];
  return shown as { readonly [field in ProfileField]: string | null };
}

function ofEach<Value>(make: (field: ProfileField) => Value) {
  const entries = PROFILE_FIELDS.map((field) => [field, make(field)]);
  return Object.fromEntries(entries) as { readonly [field in ProfileField]: Value };
}

/** Returns the fields in their stored form, or the name of the first invalid field. */
export function readProfile(body: Profile<string>): Profile<string> | ProfileField {
  const read: { [field in ProfileField]?: string | null } = {};
  for (const field of PROFILE_FIELDS) {
    const input = body[field];
    if (input === undefined) continue;
    const value = FIELDS[field].read(input);
    if (value === undefined) return field;
    read[field] = value;
  }
  return read;
}

/** Returns the trimmed text, or undefined if it is invalid. An empty text clears the field. */
export function displayName(input: string | null): string | null | undefined {
  return nameOf(input, DISPLAY_NAME_CHARACTERS_MAX);
}

export function avatarUrl(input: string | null): string | null | undefined {
  if (input === null) return null;
  if (input.length > AVATAR_URL_CHARACTERS_MAX || !URL.canParse(input)) return undefined;
  const url = new URL(input);
  return url.protocol === 'https:' && url.username === '' ? input : undefined;
}

/** Returns a BCP 47 tag in its canonical form. */
function locale(input: string | null): string | null | undefined {
  const trimmed = input?.trim() ?? '';
  if (trimmed === '') return null;
  if (trimmed.length > LOCALE_CHARACTERS_MAX) return undefined;
  try {
    return Intl.getCanonicalLocales(trimmed)[0];
  } catch {
    return undefined;
  }
}

function nameOf(input: string | null, charactersMax: number): string | null | undefined {
  const trimmed = input?.trim() ?? '';
  if (trimmed === '') return null;
  const isFit = isHonestName(trimmed) && [...trimmed].length <= charactersMax;
  return isFit ? trimmed : undefined;
}
