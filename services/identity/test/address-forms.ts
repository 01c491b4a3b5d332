/**
 * Forms of redirect URIs and browser origins with their outcomes: for each kind of client the kind of the address, or
 * the rule that it breaks.
 */
import type { OriginRule } from '@cardea/runtime';
import type {
  RedirectClient,
  RedirectKind,
  RedirectRule,
} from '../src/workspaces/applications/redirect-uri.ts';

export type Column = 'web' | 'spa_in_development' | 'native' | 'document';
export const COLUMNS: { readonly [column in Column]: RedirectClient } = {
  web: { type: 'web', isDevelopment: false },
  spa_in_development: { type: 'spa', isDevelopment: true },
  native: { type: 'native', isDevelopment: false },
  document: { type: 'document', isDevelopment: false },
};

type Outcome = RedirectKind | RedirectRule;
/**
 * One outcome for every client; or separate ones for pages, for pages in development, and for native applications and
 * documents.
 */
type RedirectForm =
  | readonly [uri: string, Outcome]
  | readonly [uri: string, Outcome, Outcome, Outcome];

const every = (outcome: Outcome, uris: readonly string[]): readonly RedirectForm[] =>
  uris.map((uri) => [uri, outcome] as const);
const nativeAlone = (uris: readonly string[]): readonly RedirectForm[] =>
  uris.map((uri) => [uri, 'scheme', 'scheme', 'private_use'] as const);

const FORMS: readonly RedirectForm[] = [
  ...every('https', [
    ...['https://app.example.com/callback', 'https://app.example.com', 'https://app.example.com/'],
    ...['https://app.example.com?a=b', 'https://app.example.com:8443/a/b?c=d&e=%20'],
    ...['https://app.example.com/cb?next=%2F', 'https://app.example.com/cb?next=%2f..%2fhome'],
    ...['https://app.example.com/cb?user=ann%40example.com', 'https://app.example.com/cb?a=../b'],
    ...['https://app.example.com/cb?user=a@b', 'https://app.example.com/cb?x', 'https://a.b/?'],
    ...['https://app.example.com/cb?x=a+b%2Bc&y=%7E~', 'https://app.example.com/cb?%5C%00'],
    ...['https://xn--bcher-kva.example/cb', 'https://192.0.2.7/cb', 'https://[2001:db8::1]/cb'],
    ...['https://app.example.com/a%20b/c%C3%A9', 'https://app.example.com//double'],
    ...['https://app.example.com/..hidden/a..b', 'https://app.example.com/cb;v=1,2'],
  ]),
  ...every('loopback', [
    ...['http://127.0.0.1/callback', 'http://127.0.0.1:3000/callback', 'http://[::1]/callback'],
    ...['http://[::1]:3000/cb?next=%2F', 'http://127.0.0.1'],
  ]),
  ['http://localhost:5173/cb', 'http_host', 'development', 'loopback'],
  ['http://localhost/callback', 'http_host', 'development', 'loopback'],
  ['http://localhost', 'http_host', 'development', 'loopback'],
  ['https://localhost:8443/cb', 'https', 'https', 'https_host'],
  ['https://127.0.0.1/cb', 'https', 'https', 'https_host'],
  ['https://[::1]/cb', 'https', 'https', 'https_host'],
  ...nativeAlone([
    ...['com.example.app:/cb', 'com.example.app://cb', 'com.example.app://host/path?next=%2F'],
    ...['com.example.app:///cb', 'com.googleusercontent.apps.123-abc:/oauth2redirect'],
    ...['cursor://anysphere.cursor-mcp/oauth/callback', 'myapp:/callback', 'msal+app://auth'],
    ...['com.example.app:cb', 'com.example-app.two:/'],
  ]),
  ...every('http_host', [
    ...['http://app.example.com/callback', 'http://127.0.0.2/callback', 'http://0.0.0.0/cb'],
    ...['http://localhost.example.com/cb', 'http://app.localhost/cb', 'http://10.0.0.1/cb'],
  ]),
  ...every('wildcard', [
    ...['https://*.example.com/callback', 'https://app.example.com/*', '*', 'com.example.*:/cb'],
    'https://app.example.com/cb?next=*',
  ]),
  ...every('fragment', ['https://app.example.com/cb#fragment', 'https://app.example.com/cb#']),
  ...every('user_name', [
    ...['https://ann@app.example.com/cb', 'https://ann:pw@app.example.com/cb'],
    ...['https://app.example.com@evil.example/cb', 'https://app.example.com/@cb'],
    'com.example.app://ann@host/cb',
  ]),
  ...every('dot_segment', [
    ...['https://app.example.com/a/../callback', 'https://app.example.com/a/..'],
    ...['https://app.example.com/a/./b', 'https://app.example.com/%2e%2e/callback'],
    ...['https://app.example.com/.%2E/cb?x=y', 'com.example.app:/a/../b', 'com.example.app:..'],
  ]),
  ...every('encoded_separator', [
    ...['https://app.example.com%2fevil.example/', 'https://app.example.com/a%2Fb'],
    ...['https://app.example.com/a%5cb', 'https://app.example.com/a%00', 'https://a.b/%0d%0aX'],
  ]),
  ...every('reserved_parameter', [
    ...['https://app.example.com/cb?code=1', 'https://app.example.com/cb?a=b&state='],
    ...['com.example.app:/cb?error=x', 'http://127.0.0.1/cb?iss'],
  ]),
  ...every('not_canonical', [
    ...[
      'https://APP.example.com/cb',
      'HTTPS://app.example.com/cb',
      'https://app.example.com:443/cb',
    ],
    ...['https:app.example.com/cb', 'https:///callback', 'http://127.1/cb', 'http://127.0.0.1:80/'],
    ...['http://2130706433/cb', 'http://[0:0:0:0:0:0:0:1]/cb', 'Com.Example.App:/cb'],
    ...["https://app.example.com/cb?q='x'", 'https://app.example.com:/cb'],
  ]),
  ...every('characters', [
    ...['https://app.example.com\\evil.example/', 'https://ünïcode.example/cb', ''],
    ...['https://app.example.com/call back', 'https://app.example.com/%zz', ' https://a.b/'],
    ...['https://app.example.com/cb\n', 'https://app.example.com/"x"', 'https://a.b/{id}'],
  ]),
  ...every('not_absolute', ['/callback', '//app.example.com/cb', 'callback', 'https://', '?x=y']),
  ...every('scheme', [
    ...['javascript:alert(1)', 'vbscript:x', 'data:text/html,x', 'blob:https://a.b/c'],
    ...['file:///etc/passwd', 'filesystem:https://a.b/c', 'about:blank', 'ftp://a.b/cb'],
    ...['ws://a.b/cb', 'wss://a.b/cb', 'mailto:ann.example.com', 'tel:123', 'sms:123'],
    ...['intent://a.b/cb', 'urn:ietf:wg:oauth:2.0:oob', 'view-source:https://a.b/'],
  ]),
  ...every('too_long', [`https://app.example.com/${'a'.repeat(2_048)}`]),
];

export type RedirectRow = {
  readonly uri: string;
  readonly column: Column;
  readonly outcome: Outcome;
};
export const REDIRECT_ROWS: readonly RedirectRow[] = FORMS.flatMap(
  ([uri, page, inDevelopment = page, native = page]) => [
    { uri, column: 'web', outcome: page },
    { uri, column: 'spa_in_development', outcome: inDevelopment },
    { uri, column: 'native', outcome: native },
    { uri, column: 'document', outcome: native },
  ],
);

const KINDS: ReadonlySet<string> = new Set(['https', 'loopback', 'development', 'private_use']);
export const isTaken = ({ outcome }: RedirectRow): boolean => KINDS.has(outcome);

/** Origins, each with the outcomes for a page, a page in development and a native application. */
export const ORIGIN_ROWS: readonly (readonly [
  origin: string,
  page: OriginRule | 'allowed',
  inDevelopment: OriginRule | 'allowed',
  native: OriginRule | 'allowed',
])[] = [
  ['https://app.example.com', 'allowed', 'allowed', 'allowed'],
  ['https://app.example.com:8443', 'allowed', 'allowed', 'allowed'],
  ['http://127.0.0.1:3000', 'allowed', 'allowed', 'allowed'],
  ['http://[::1]:3000', 'allowed', 'allowed', 'allowed'],
  ['http://localhost:5173', 'http_host', 'allowed', 'allowed'],
  ['http://localhost', 'http_host', 'allowed', 'allowed'],
  ['capacitor://localhost', 'scheme', 'scheme', 'allowed'],
  ['tauri://localhost', 'scheme', 'scheme', 'allowed'],
  ['http://tauri.localhost', 'http_host', 'http_host', 'allowed'],
  ['chrome-extension://aapbdbdomjkkjkaonfhkkikfgjllcleb', 'scheme', 'scheme', 'allowed'],
  ['https://*.example.com', 'wildcard', 'wildcard', 'wildcard'],
  ['*', 'wildcard', 'wildcard', 'wildcard'],
  ['null', 'null', 'null', 'null'],
  ['https://app.example.com/', 'not_as_sent', 'not_as_sent', 'not_as_sent'],
  ['https://APP.example.com', 'not_as_sent', 'not_as_sent', 'not_as_sent'],
  ['https://app.example.com:443', 'not_as_sent', 'not_as_sent', 'not_as_sent'],
  ['http://app.example.com', 'http_host', 'http_host', 'http_host'],
  ['file://host', 'scheme', 'scheme', 'scheme'],
];
