/**
 * An e-mail address in the only form in which it is stored, compared and returned: NFC, lower case, the
 * domain in ASCII. Whatever reads an address reads it here, so that a text which one place accepts means
 * the same account at every other place.
 */
const EMAIL_CHARACTERS_MAX = 254;
const FORBIDDEN = /[\s\p{Cc}\p{Cf}\p{Cs}<>(),;:\\"[\]]/u;

/** U+3002, U+FF0E and U+FF61 are dots of a host name as well (UTS 46). */
const DOTS = '.\u3002\uff0e\uff61';
const TRAILING_DOT = new RegExp(`[${DOTS}]$`, 'u');
/**
 * Letters of any script, digits, hyphens and dots. The conversion to ASCII is a URL parser's: it would cut
 * the domain at `/`, `?`, `#` and `:`, decode `%61`, and so return the host of another address.
 */
const HOST_NAME = new RegExp(`^[\\p{L}\\p{M}\\p{Nd}${DOTS}-]+$`, 'u');
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
/** The last label begins with a letter, for a URL parser reads `127.1` and `0x7f` as IPv4 addresses. */
const ASCII_HOST_NAME = new RegExp(`^(?:${LABEL}\\.)*(?=[a-z])${LABEL}$`);

/** As East Asian keyboards write it. */
const WIDE_AT = /[\uff20\ufe6b]/gu;

export type ToAscii = (domain: string) => string;

/** Undefined if it is not an address. Keyboards of phones put spaces and a dot around one. */
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
  // A form that a second pass would change is not a normal form.
  return address === address.normalize('NFC').toLowerCase() ? address : undefined;
}
