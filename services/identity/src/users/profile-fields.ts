/** What a display name and a picture's address may be, and how a field that is neither is refused. */
const DISPLAY_NAME_CHARACTERS_MAX = 128;
const AVATAR_URL_CHARACTERS_MAX = 2_048;
const CONTROL = /\p{Cc}/u;

/** Trimmed; undefined when it is none. Empty clears. */
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

/** As the door spells its own faults: the field's name and the rule. */
export const badField = (field: 'display_name' | 'avatar_url' | 'company_name') =>
  ({ refused: 'invalid_request', details: [{ field, rule: 'format' }] }) as const;
