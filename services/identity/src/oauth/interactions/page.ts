/** The pages at which people sign in and decide about applications: plain HTML, no script, nothing from elsewhere. */
import { sha256 } from '@cardea/crypto';

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:26rem;margin:12vh auto;padding:0 1rem}' +
  'button,input{font:inherit;padding:.5rem 1rem}label{display:block;margin:0 0 1rem}' +
  'input:not([type=checkbox]){display:block;width:100%;box-sizing:border-box}' +
  '[role=alert]{color:#a30000}';
const STYLE_HASH = `'sha256-${sha256(STYLE).toString('base64')}'`;

const ENTITIES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
export const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

export type Html = { readonly html: string; readonly headers: { readonly [name: string]: string } };

/** `redirect`: browsers apply `form-action` to where a form's answer leads, too. */
export function page(title: string, body: string, redirect?: string): Html {
  const html =
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escaped(title)}</title>` +
    `<meta name="viewport" content="width=device-width"><style>${STYLE}</style></head>` +
    `<body><h1>${escaped(title)}</h1>${body}</body></html>`;
  const policy = [
    `default-src 'none'`,
    `style-src ${STYLE_HASH}`,
    `form-action 'self'${redirect === undefined ? '' : ` ${sourceOf(redirect)}`}`,
    `frame-ancestors 'none'`,
    `base-uri 'none'`,
  ].join('; ');
  const headers = {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy,
    'Referrer-Policy': 'no-referrer',
    'X-Frame-Options': 'DENY',
    'Cache-Control': 'no-store',
  };
  return { html, headers };
}

/** The origin of a redirect URI, or the scheme of an application on a device. */
function sourceOf(uri: string): string {
  const { protocol, origin } = new URL(uri);
  return protocol === 'https:' || protocol === 'http:' ? origin : protocol;
}

const alert = (message: string | undefined): string =>
  message === undefined ? '' : `<p role="alert">${escaped(message)}</p>`;

type At = { readonly path: string; readonly message: string | undefined };

export const loginForm = (at: At & { readonly hint: string | undefined }): string =>
  `${alert(at.message)}<form method="post" action="${escaped(at.path)}/login">` +
  `<label>E-mail<input name="email" type="email" required autocomplete="username"` +
  ` value="${escaped(at.hint ?? '')}"></label>` +
  `<label>Password<input name="password" type="password" required` +
  ` autocomplete="current-password"></label><button>Sign in</button></form>${abortForm(at.path)}`;

export const secondFactorForm = (at: At & { readonly methods: readonly string[] }): string => {
  const codes = at.methods.filter((method) => method === 'totp' || method === 'recovery');
  const choice = codes
    .map(
      (method, index) =>
        `<label><input type="radio" name="method" value="${method}"${index === 0 ? ' checked' : ''}>` +
        ` ${method === 'totp' ? 'Authenticator app' : 'Recovery code'}</label>`,
    )
    .join('');
  const form =
    `<form method="post" action="${escaped(at.path)}/mfa">${choice}` +
    `<label>Code<input name="code" required autocomplete="one-time-code"></label>` +
    `<button>Continue</button></form>`;
  const none = '<p>Sign in with a passkey in an application that supports it first.</p>';
  return `${alert(at.message)}${codes.length === 0 ? none : form}${abortForm(at.path)}`;
};

export const consentForm = (
  at: At & {
    readonly client: string;
    readonly host: string;
    readonly warning: string | undefined;
    readonly scopes: readonly { readonly name: string; readonly description: string }[];
  },
): string =>
  `<p><strong>${escaped(at.client)}</strong> asks to act for you. You will be sent to ` +
  `<strong>${escaped(at.host)}</strong>.</p>${alert(at.warning)}` +
  `<form method="post" action="${escaped(at.path)}/consent">` +
  at.scopes
    .map(
      ({ name, description }) =>
        `<label><input type="checkbox" name="scope:${escaped(name)}" value="on" checked> ` +
        `${escaped(description)}</label>`,
    )
    .join('') +
  `<button>Allow</button></form>${abortForm(at.path)}`;

const abortForm = (path: string): string =>
  `<form method="post" action="${escaped(path)}/abort"><button>Cancel</button></form>`;

export const errorPage = (message: string): Html =>
  page('This did not work', `<p>${escaped(message)}</p>`);
