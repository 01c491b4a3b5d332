/**
 * An e-mail address in the only form in which it is stored, compared and returned: NFC, lower case, the domain in
 * ASCII. All code parses addresses here, so the same text means the same account everywhere.
 */
const EMAIL_CHARACTERS_MAX = 254;
const FORBIDDEN = /[\s\p{Cc}\p{Cf}\p{Cs}<>(),;:\\"[\]]/u;

/** U+3002, U+FF0E and U+FF61 also separate the labels of a host name (UTS 46). */
const DOTS = '.\u3002\uff0e\uff61';
const TRAILING_DOT = new RegExp(`[${DOTS}]$`, 'u');
/**
 * Letters of any script, digits, hyphens and dots. A URL parser converts the domain to ASCII. Unchecked, it would cut
 * the domain at `/`, `?`, `#` and `:`, decode `%61`, and so return another address's host.
 */
const HOST_NAME = new RegExp(`^[\\p{L}\\p{M}\\p{Nd}${DOTS}-]+$`, 'u');
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
/** The last label begins with a letter, because a URL parser reads `127.1` and `0x7f` as IPv4 addresses. */
const ASCII_HOST_NAME = new RegExp(`^(?:${LABEL}\\.)*(?=[a-z])${LABEL}$`);

/** The wide `@` of East Asian keyboards. */
const WIDE_AT = /[\uff20\ufe6b]/gu;

export type ToAscii = (domain: string) => string;

/**
 * Returns undefined for a text that is no address. Spaces around it and a trailing dot, which phone keyboards add, are
 * removed.
 */
export function emailAddress(input: string, domainToAscii: ToAscii): string | undefined {
  const normal = input
    .trim()
    .replace(TRAILING_DOT, '')
    .replaceAll(WIDE_AT, '@')
    .normalize('NFC')
    .toLowerCase();
  const parts = normal.split('@');
  const [local, domain] = parts;
  if (parts.length !== 2 || !local || !domain || FORBIDDEN.test(normal)) return undefined;
  const ascii = HOST_NAME.test(domain) ? domainToAscii(domain) : '';
  const address = `${local}@${ascii}`;
  if (!ASCII_HOST_NAME.test(ascii) || address.length > EMAIL_CHARACTERS_MAX) return undefined;
  // A form that a second pass would change is not normalized.
  return address === address.normalize('NFC').toLowerCase() ? address : undefined;
}
