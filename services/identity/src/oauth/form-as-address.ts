/** A form of another site that becomes an address, since it comes without the cookie of the sign-in. */

/** What gateways (a request line of 16 KiB) and clients (16 KiB for all headers) take, with room for the rest. */
export const ADDRESS_MAX_BYTES = 15 * 1024;

const TOO_LONG = {
  refused: 'invalid_request',
  message: 'The parameters are too long for an address: push them (RFC 9126).',
  details: [{ field: 'body', rule: 'max_bytes', limit: ADDRESS_MAX_BYTES }],
} as const;

/** Escaped, a form takes up to three times its size. */
export function formAsAddress(path: string, form: { readonly [name: string]: string }) {
  const address = `${path}?${new URLSearchParams(form)}`;
  return address.length > ADDRESS_MAX_BYTES ? TOO_LONG : { address };
}
