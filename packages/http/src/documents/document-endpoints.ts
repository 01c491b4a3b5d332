/**
 * `/`, `/openapi.json` and `/docs`, served from our own files. The page loads nothing from other hosts, and its content
 * security policy forbids it.
 */
import { createReadStream } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import Type from 'typebox';
import { type Endpoint, endpoint } from '../contract/endpoint.ts';
import { type DocumentOf, openApi } from '../openapi/openapi.ts';
import { guides } from './guides.ts';
import { developmentHome, ICON, PRODUCTION_HOME } from './home-page.ts';

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Cardea API</title>
</head>
<body>
<div id="reference"></div>
<script src="/docs/reference.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

// Fonts, proxy and assistant are switched off, because each would send requests to another host.
const START = `Scalar.createApiReference('#reference', {
  url: '/openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
});
`;

/** The page's own styles are inline. Everything else comes from this origin. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HOME_POLICY = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const BUNDLE_MAX_AGE_SECONDS = 3_600;

export type DocumentsOf = DocumentOf & { readonly isDevelopment: boolean };

export function documentEndpoints(of: DocumentsOf): readonly Endpoint[] {
  let document: string | undefined;
  const shownGuides = of.isDevelopment ? guides() : [];
  let home: string | undefined;
  return [
    page('home', '/', (response) => {
      response.setHeader('Content-Security-Policy', HOME_POLICY);
      response.setHeader('Referrer-Policy', 'no-referrer');
      home ??= of.isDevelopment ? developmentHome(of, shownGuides) : PRODUCTION_HOME;
      send(response, 'text/html; charset=utf-8', home);
    }),
    page('favicon', '/favicon.ico', (response) => {
      response.setHeader('Cache-Control', `public, max-age=${BUNDLE_MAX_AGE_SECONDS}`);
      send(response, 'image/svg+xml', ICON);
    }),
    page('openapi_document', '/openapi.json', (response) => {
      // Generated on first use, because most processes never serve it.
      document ??= JSON.stringify(openApi(of));
      send(response, 'application/json; charset=utf-8', document);
    }),
    page('docs', '/docs', (response) => {
      response.setHeader('Content-Security-Policy', POLICY);
      response.setHeader('Referrer-Policy', 'no-referrer');
      send(response, 'text/html; charset=utf-8', PAGE);
    }),
    page('docs_start', '/docs/start.js', (response) =>
      send(response, 'text/javascript; charset=utf-8', START),
    ),
    page('docs_reference', '/docs/reference.js', async (response) => {
      response.setHeader('Content-Type', 'text/javascript; charset=utf-8');
      response.setHeader('Cache-Control', `public, max-age=${BUNDLE_MAX_AGE_SECONDS}`);
      await pipeline(createReadStream(bundlePath()), response);
    }),
    ...shownGuides.map(({ name, path, text }) =>
      page(`guide_${name}`, path, (response) => {
        response.setHeader('Cache-Control', 'no-store');
        send(response, 'text/plain; charset=utf-8', text());
      }),
    ),
  ];
}

/** The page and its files, for a gateway that serves them itself. */
export const documentation = {
  home: PRODUCTION_HOME,
  homePolicy: HOME_POLICY,
  icon: ICON,
  page: PAGE,
  start: START,
  policy: POLICY,
  bundleMaxAgeSeconds: BUNDLE_MAX_AGE_SECONDS,
  bundlePath,
} as const;

function bundlePath(): string {
  const require = createRequire(import.meta.url);
  const entry = require.resolve('@scalar/api-reference');
  return join(dirname(entry), 'browser', 'standalone.js');
}

function send(response: ServerResponse, type: string, body: string): void {
  response.setHeader('Content-Type', type);
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.end(body);
}

const page = (
  name: string,
  path: string,
  raw: (response: ServerResponse) => void | Promise<void>,
): Endpoint =>
  endpoint(
    {
      name,
      summary: 'Part of the documentation.',
      tag: 'Documents',
      method: 'get',
      path,
      who: 'anyone',
      tenant: 'none',
      ok: Type.Unknown(),
      refusals: {},
      audience: 'internal',
    },
    async () => ({ raw }),
  );
