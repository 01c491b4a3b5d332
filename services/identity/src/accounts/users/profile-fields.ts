/** The fields of a user's profile and their formats. */
import type { Sealed } from '@cardea/crypto';
import { isHonestName } from '@cardea/runtime';

export const PROFILE_FIELDS = [
  'display_name',
  'avatar_url',
  'locale',
  'preferred_username',
] as const;
export type ProfileField = (typeof PROFILE_FIELDS)[number];

/** A field that is missing stays unchanged; null clears it. */
export type Profile<Value> = { readonly [field in ProfileField]?: Value | null };
export type SealedProfile = Profile<Sealed>;

const DISPLAY_NAME_CHARACTERS_MAX = 128;
const AVATAR_URL_CHARACTERS_MAX = 2_048;
const USERNAME_CHARACTERS_MAX = 64;
const LOCALE_CHARACTERS_MAX = 35;

/** Returns the fields in their stored form, or the name of the first invalid field. */
export function readProfile(body: Profile<string>): Profile<string> | ProfileField {
  const read: { [field in ProfileField]?: string | null } = {};
  for (const field of PROFILE_FIELDS) {
    const input = body[field];
    if (input === undefined) continue;
    const value = FORMS[field](input);
    if (value === undefined) return field;
    read[field] = value;
  }
  return read;
}

/** Returns the trimmed text, or undefined if it is invalid. An empty text clears the field. */
export const displayName = (input: string | null): string | null | undefined =>
  nameOf(input, DISPLAY_NAME_CHARACTERS_MAX);

export function avatarUrl(input: string | null): string | null | undefined {
  if (input === null) return null;
  if (input.length > AVATAR_URL_CHARACTERS_MAX || !URL.canParse(input)) return undefined;
  const url = new URL(input);
  return url.protocol === 'https:' && url.username === '' ? input : undefined;
}

/** Returns a BCP 47 tag in its canonical form. */
export function locale(input: string | null): string | null | undefined {
  const trimmed = input?.trim() ?? '';
  if (trimmed === '') return null;
  if (trimmed.length > LOCALE_CHARACTERS_MAX) return undefined;
  try {
    return Intl.getCanonicalLocales(trimmed)[0];
  } catch {
    return undefined;
  }
}

const FORMS: {
  readonly [field in ProfileField]: (input: string | null) => string | null | undefined;
} = {
  display_name: displayName,
  avatar_url: avatarUrl,
  locale,
  // Usernames need not be unique, because nobody signs in by them.
  preferred_username: (input) => nameOf(input, USERNAME_CHARACTERS_MAX),
};

function nameOf(input: string | null, charactersMax: number): string | null | undefined {
  const trimmed = input?.trim() ?? '';
  if (trimmed === '') return null;
  const isFit = isHonestName(trimmed) && [...trimmed].length <= charactersMax;
  return isFit ? trimmed : undefined;
}
