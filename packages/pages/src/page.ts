/**
 * The one frame of all pages: server-side HTML in the tenant's colours and the reader's language. Style and script are
 * allowed by their hashes, and nothing is loaded from elsewhere except the tenant's logo.
 */
import type { ServerResponse } from 'node:http';
import { sha256 } from '@cardea/crypto';
import { endTogether, isForm } from '@cardea/http';
import { DEFAULT_LANGUAGE, type Language } from '@cardea/mail';
import { computedOnce } from '@cardea/runtime';
import { acceptsPage } from './accepts-page.ts';
import { type Branding, brandStyle } from './branding.ts';
import { html, type Markup, NOTHING, trusted } from './markup.ts';
import { type Navigation, navigation } from './navigation.ts';
import { STYLE } from './style.ts';
import { languageOf } from './texts/reader-language.ts';
import { type Catalogue, type Say, type SayRefusal, sayIn, sayRefusalIn } from './texts/texts.ts';

/**
 * The context of a page: tenant, language and texts. `Key` names the texts that its service adds to those of the frame.
 */
export type Frame<Key extends string = never> = {
  readonly language: Language;
  readonly say: Say<Key>;
  readonly sayRefusal: SayRefusal;
  /** Empty if no tenant is known. */
  readonly tenantName: string;
  readonly branding: Branding;
};

export type PageBody = {
  readonly title: string;
  readonly body: Markup;
  /** The width: a card for one short form by default, `form` (560 px) or `wide` (1,120 px). */
  readonly width?: 'form' | 'wide' | undefined;
  /** The error, which screen readers read first. */
  readonly alert?: string | undefined;
  readonly script?: string | undefined;
  /** The navigation, for pages of a signed-in person. */
  readonly nav?: Navigation | undefined;
  /** The address to which a form's response redirects, because browsers apply `form-action` to redirects too. */
  readonly redirectUri?: string | undefined;
};

type Headers = { readonly [name: string]: string | undefined };

export type Html = { readonly html: string; readonly headers: { readonly [name: string]: string } };

/** The part of a tenant that its pages show. */
export type ShownTenant = {
  readonly displayName: string;
  readonly settings: { readonly branding: Branding; readonly language: Language };
};

export function frameOf<Key extends string>(
  texts: Catalogue<Key>,
  tenant: ShownTenant | undefined,
  headers: Headers,
  more: { readonly branding?: Branding; readonly uiLocales?: unknown } = {},
): Frame<Key> {
  const wanted = languageOf(headers, more.uiLocales);
  const language = wanted ?? tenant?.settings.language ?? DEFAULT_LANGUAGE;
  const own = Object.entries(more.branding ?? {}).filter(([, value]) => value !== null);
  return {
    language,
    say: sayIn(texts, language),
    sayRefusal: sayRefusalIn(texts, language),
    tenantName: tenant?.displayName ?? '',
    branding: { ...tenant?.settings.branding, ...Object.fromEntries(own) },
  };
}

/**
 * The maximum number of cached hashes. Pages have few scripts and tenants few colours. Further hashes are computed
 * again.
 */
const HASHES_MAX = 500;
const hashes = computedOnce<string, string>(HASHES_MAX);
const STYLE_HASH = hashOf(STYLE);

export function page(frame: Frame, shown: PageBody): Html {
  const { language, say, tenantName, branding } = frame;
  const { title, alert, script } = shown;
  const colors = brandStyle(branding);
  const named = tenantName === '' ? title : `${title} · ${tenantName}`;
  const document = html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<title>${alert === undefined ? named : `${say('error.prefix')}: ${named}`}</title>
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="robots" content="noindex">
<style>${trusted(STYLE)}</style>
<style>${trusted(colors)}</style>
</head>
<body>
${shown.nav === undefined ? NOTHING : navigation(frame, shown.nav)}<main id="main"${shown.width === undefined ? NOTHING : html` class="${shown.width}"`}>
${headOf(frame)}${alertOf(alert)}<h1>${title}</h1>
${shown.body}
</main>
${footOf(frame)}${script === undefined ? NOTHING : html`<script>${trusted(script)}</script>`}
</body>
</html>`;
  const policy = policyOf({ branding, colors, script, redirectUri: shown.redirectUri });
  return { html: document.text, headers: { ...HEADERS, 'Content-Security-Policy': policy } };
}

const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  // Without a referrer a browser sends a form with the origin `null`. Over plain HTTP nothing else shows which page the
  // form belongs to.
  'Referrer-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  Vary: 'Accept, Accept-Language',
};

function policyOf(of: {
  readonly branding: Branding;
  readonly colors: string;
  readonly script: string | undefined;
  readonly redirectUri: string | undefined;
}): string {
  const { colors, script, redirectUri } = of;
  const logo = httpsUrl(of.branding.logo_url);
  return [
    `default-src 'none'`,
    `style-src ${STYLE_HASH} ${hashOf(colors)}`,
    ...(logo === undefined ? [] : [`img-src ${logo.origin}`]),
    ...(script === undefined ? [] : [`script-src ${hashOf(script)}`, `connect-src 'self'`]),
    `form-action 'self'${redirectUri === undefined ? '' : ` ${sourceOf(redirectUri)}`}`,
    `frame-ancestors 'none'`,
    `base-uri 'none'`,
  ].join('; ');
}

function hashOf(text: string): string {
  return hashes(text, () => `'sha256-${sha256(text).toString('base64')}'`);
}

/**
 * The origin of a redirect URI, or the scheme of an application on a device. The policy's grammar has no addresses in
 * brackets, so a loopback address of that form is allowed by its scheme.
 */
function sourceOf(uri: string): string {
  const { protocol, origin, hostname } = new URL(uri);
  const isWeb = protocol === 'https:' || protocol === 'http:';
  return isWeb && !hostname.startsWith('[') ? origin : protocol;
}

const httpsUrl = (text: string | null | undefined): URL | undefined =>
  text !== null && text !== undefined && URL.canParse(text) && text.startsWith('https://')
    ? new URL(text)
    : undefined;

function headOf({ branding, tenantName }: Frame): Markup {
  const logo = httpsUrl(branding.logo_url);
  if (logo !== undefined) {
    return html`<header><img src="${logo.href}" alt="${tenantName}"></header>
`;
  }
  return tenantName === ''
    ? NOTHING
    : html`<header>${tenantName}</header>
`;
}

/** The alert has the focus when the page opens, so screen readers read it before the form. */
const alertOf = (alert: string | undefined): Markup =>
  alert === undefined
    ? NOTHING
    : html`<div class="alert" role="alert" id="alert" tabindex="-1" autofocus><p>${alert}</p></div>
`;

function footOf({ branding, say }: Frame): Markup {
  const links = [
    [say('foot.terms'), httpsUrl(branding.terms_url)?.href],
    [say('foot.privacy'), httpsUrl(branding.privacy_url)?.href],
    [say('foot.support'), branding.support_email && `mailto:${branding.support_email}`],
  ] as const;
  const shown = links.flatMap(([text, href]) =>
    href === undefined || href === null || href === '' ? [] : [html`<a href="${href}">${text}</a>`],
  );
  return shown.length === 0
    ? NOTHING
    : html`<footer>${shown}</footer>
`;
}

/** A page that states one thing and requests nothing. `more` contains links to continue. */
export const plainPage = (
  frame: Frame,
  title: string,
  lead: string,
  more: Markup = NOTHING,
): Html => page(frame, { title, body: html`<p>${lead}</p>${more}` });

export const send =
  (status: number, { html: text, headers }: Html, more: { [name: string]: string } = {}) =>
  (response: ServerResponse): void => {
    // Encoded once, for both its length and the socket.
    const content = Buffer.from(text);
    response.writeHead(status, { ...headers, ...more, 'Content-Length': content.length });
    endTogether({ response, content, encoding: 'utf8' });
  };

export const wantsPage = (headers: Headers): boolean => acceptsPage(headers['accept']);
/** Whether the response is a page: a form of ours was posted, or a browser opened the address. */
export const asPage = (headers: Headers): boolean => isForm(headers) || wantsPage(headers);
