import { isLoopback, withoutBrackets } from './loopback.ts';

/** The rule that an allowed origin breaks: `details.rule` of its 400. */
export type OriginRule = 'null' | 'wildcard' | 'not_as_sent' | 'http_host' | 'scheme';
export type OriginClient = {
  /** Whether its pages run in a web view of an application on a device, or in a browser extension. */
  readonly isNative: boolean;
  readonly isDevelopment: boolean;
};

const ORIGIN_OF_SCHEME =
  /^([a-z][a-z0-9+.-]*:)\/\/[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?(?::[0-9]{1,5})?$/;
/**
 * Schemes that a browser runs, opens by itself or passes to a program that is no application of a tenant. No page of an
 * application has such an origin, and no response is sent to such an address.
 */
export const FORBIDDEN_SCHEMES: ReadonlySet<string> = new Set([
  ...['javascript:', 'vbscript:', 'data:', 'blob:', 'file:', 'filesystem:', 'about:', 'urn:'],
  ...['ftp:', 'ws:', 'wss:', 'mailto:', 'tel:', 'sms:', 'intent:', 'view-source:'],
]);
const LOCALHOST = 'localhost';

/**
 * The rule that an origin breaks. Undefined if it may be allowed. An allowed origin has the form that browsers send:
 * `https://example.com`, an http loopback address, `http://localhost:5173` in development, and for native applications
 * a scheme of their own with a host, such as `capacitor://localhost`.
 */
export function originRule(
  text: string,
  { isNative, isDevelopment }: OriginClient,
): OriginRule | undefined {
  if (text === 'null') return 'null';
  if (text.includes('*')) return 'wildcard';
  const url = URL.parse(text);
  if (url === null) return 'not_as_sent';
  const { protocol, hostname } = url;
  if (protocol === 'https:' || protocol === 'http:') {
    if (url.origin !== text) return 'not_as_sent';
    if (protocol === 'https:' || isLoopback(withoutBrackets(hostname))) return undefined;
    const isLocal =
      hostname === LOCALHOST
        ? isDevelopment || isNative
        : isNative && hostname.endsWith(`.${LOCALHOST}`);
    return isLocal ? undefined : 'http_host';
  }
  if (!isNative || FORBIDDEN_SCHEMES.has(protocol)) return 'scheme';
  return ORIGIN_OF_SCHEME.test(text) ? undefined : 'not_as_sent';
}

/** Whether the operator may allow the origin for the whole deployment, in any of the forms. */
export const isBrowserOrigin = (text: string): boolean =>
  originRule(text, { isNative: true, isDevelopment: true }) === undefined;
