/**
 * Turns a form that another site posted into a URL with a query. The form arrives without the sign-in's cookie, so the
 * browser is redirected to that URL.
 */

/**
 * The longest address that gateways (a request line of 16 KiB) and clients (16 KiB for all headers) accept, with room
 * for the rest of the line.
 */
export const ADDRESS_MAX_BYTES = 15 * 1024;

const TOO_LONG = {
  refused: 'invalid_request',
  message: 'The parameters are too long for an address: push them (RFC 9126).',
  details: [{ field: 'body', rule: 'max_bytes', limit: ADDRESS_MAX_BYTES }],
} as const;

/** Percent-encoding makes a form up to three times as long. */
export function formAsAddress(path: string, form: { readonly [name: string]: string }) {
  const address = `${path}?${new URLSearchParams(form)}`;
  return address.length > ADDRESS_MAX_BYTES ? TOO_LONG : { address };
}
