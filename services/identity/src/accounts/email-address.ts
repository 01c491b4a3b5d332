/**
 * An e-mail address in the only form in which it is stored, compared and returned: NFC, lower case, the
 * domain in ASCII.
 */
const EMAIL_CHARACTERS_MAX = 254;
const FORBIDDEN = /[\s\p{Cc}\p{Cf}\p{Cs}<>(),;:\\"[\]]/u;

export type ToAscii = (domain: string) => string;

/** Undefined if it is not an address. */
export function emailAddress(input: string, domainToAscii: ToAscii): string | undefined {
  const normal = input.normalize('NFC').toLowerCase();
  const parts = normal.split('@');
  const [local, domain] = parts;
  if (parts.length !== 2 || !local || !domain || FORBIDDEN.test(normal)) return undefined;
  const ascii = domainToAscii(domain);
  const address = `${local}@${ascii}`;
  if (ascii === '' || address.length > EMAIL_CHARACTERS_MAX) return undefined;
  // A form that a second pass would change is not a normal form.
  return address === address.normalize('NFC').toLowerCase() ? address : undefined;
}
