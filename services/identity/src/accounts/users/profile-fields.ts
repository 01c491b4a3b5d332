/** The form of a display name and of a picture's address. */
const DISPLAY_NAME_CHARACTERS_MAX = 128;
const AVATAR_URL_CHARACTERS_MAX = 2_048;
const CONTROL = /\p{Cc}/u;

/** Trimmed; undefined if it is not valid. An empty one clears the field. */
export function displayName(input: string | null): string | null | undefined {
  const trimmed = input?.trim() ?? '';
  if (trimmed === '') return null;
  if (CONTROL.test(trimmed) || [...trimmed].length > DISPLAY_NAME_CHARACTERS_MAX) return undefined;
  return trimmed;
}

export function avatarUrl(input: string | null): string | null | undefined {
  if (input === null) return null;
  if (input.length > AVATAR_URL_CHARACTERS_MAX || !URL.canParse(input)) return undefined;
  const url = new URL(input);
  return url.protocol === 'https:' && url.username === '' ? input : undefined;
}
