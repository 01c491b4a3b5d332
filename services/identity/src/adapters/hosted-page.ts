/**
 * The page that a mailed link leads to. The token is in the URL's fragment and is sent only after a click,
 * so neither a scanner nor a preview consumes it.
 */
import type { ServerResponse } from 'node:http';
import { sha256 } from '@cardea/crypto';

type Page = 'verify' | 'reset' | 'magic_link' | 'invitation';

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:26rem;margin:15vh auto;padding:0 1rem}' +
  'button,input{font:inherit;padding:.5rem 1rem}input{display:block;margin:0 0 1rem;width:100%;box-sizing:border-box}';

const FORMS: Record<Page, { readonly title: string; readonly form: string }> = {
  verify: {
    title: 'Confirm your e-mail address',
    form: '<button>Confirm</button>',
  },
  magic_link: {
    title: 'Sign in',
    form: '<button>Sign in</button>',
  },
  invitation: {
    title: 'Accept the invitation',
    form:
      '<label>Name<input name="display_name" maxlength="128" autocomplete="name"></label>' +
      '<label>Password<input name="password" type="password" required minlength="8"' +
      ' autocomplete="new-password"></label><button>Accept</button>',
  },
  reset: {
    title: 'Choose a new password',
    form:
      '<label>New password<input name="new_password" type="password" required minlength="8"' +
      ' autocomplete="new-password"></label><button>Set the password</button>',
  },
};

const SCRIPT = `
const form = document.querySelector('form');
const told = document.querySelector('output');
const query = new URLSearchParams(location.search);
const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? query.get('token') ?? '';
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const body = { ...Object.fromEntries(new FormData(form)), token };
  const answer = await fetch(location.pathname, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(body),
  });
  told.textContent = answer.ok ? 'Done. You may close this page.' : 'This did not work. Ask for a new link.';
  if (answer.ok) form.hidden = true;
});
`;

const hashOf = (text: string): string => `'sha256-${sha256(text).toString('base64')}'`;

const POLICY = [
  `default-src 'none'`,
  `script-src ${hashOf(SCRIPT)}`,
  `style-src ${hashOf(STYLE)}`,
  `connect-src 'self'`,
  `form-action 'self'`,
  `frame-ancestors 'none'`,
  `base-uri 'none'`,
].join('; ');

export const hostedPage =
  (page: Page) =>
  (response: ServerResponse): void => {
    const { title, form } = FORMS[page];
    const html =
      `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>` +
      `<meta name="viewport" content="width=device-width"><style>${STYLE}</style></head>` +
      `<body><h1>${title}</h1><form>${form}</form><output></output>` +
      `<script>${SCRIPT}</script></body></html>`;
    response.writeHead(200, {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Length': Buffer.byteLength(html),
      'Content-Security-Policy': POLICY,
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-store',
    });
    response.end(html);
  };
