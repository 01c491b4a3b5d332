/**
 * The page at `/` and the icon. In production the page shows only the name. In development it links to
 * everything that a newcomer needs.
 */

import type { DocumentOf } from '../openapi/openapi.ts';
import { type Guide, titleOf } from './guides.ts';

const STYLE = `
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem}
li{margin:.5rem 0}
code{overflow-wrap:anywhere}
`;

export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#1f4b7a"/><path d="M22 11a7.5 7.5 0 1 0 0 10" fill="none" stroke="#fff" stroke-width="4" stroke-linecap="round"/></svg>
`;

/** Every server that has this page also has these documents. */
const DOCUMENTS = [
  ['/docs', 'API reference', 'every endpoint, with a form to send requests'],
  ['/openapi.json', 'OpenAPI document', 'for generators of clients'],
] as const;
/** Each is shown if this server has its path. */
const ENDPOINTS = [
  ['/dev/mailbox', 'Mailbox', 'every mail that this instance has sent'],
  ['/.well-known/openid-configuration', 'OpenID Connect discovery', 'for client libraries'],
  ['/health', 'Health', 'whether this instance answers'],
] as const;

const documentOf = (body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Cardea</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Cardea</h1>
${body}</main>
</body>
</html>
`;

/** The page in production, which tells strangers nothing. */
export const PRODUCTION_HOME = documentOf('');

export function developmentHome(
  { publicUrl, version, endpoints }: DocumentOf,
  guides: readonly Guide[],
): string {
  const own = ENDPOINTS.filter(([path]) =>
    endpoints.some(({ contract }) => contract.path === path),
  );
  const links = [...DOCUMENTS, ...own].map(
    ([path, name, text]) => `<li><a href="${path}">${name}</a>: ${text}</li>\n`,
  );
  return documentOf(`<p>Version ${version}, in development. Its address and the issuer of its tokens is
<code>${publicUrl}</code>.</p>
<ul>
${links.join('')}</ul>
<h2>Next steps</h2>
<ol>
<li>Sign in: paste the <code>curl</code> line that the start printed, and keep the access token.</li>
<li>Send requests with that token from the <a href="/docs">API reference</a>.</li>
<li>See the whole product work: <code>npm run tour</code> plays a story against an instance of its own.</li>
</ol>
${guides.length === 0 ? '' : `<h2>Guides</h2>\n<ul>\n${guides.map(linkTo).join('')}</ul>\n`}`);
}

const linkTo = (guide: Guide): string => `<li><a href="${guide.path}">${titleOf(guide)}</a></li>\n`;
