/** Corrects header fields of the library's responses that are missing or that clients cannot use as they are. */
import { createHash } from 'node:crypto';
import { ANSWER_PARAMETERS, withParameters } from './answer-parameters.ts';
import type { Ctx } from './authorization-ports.ts';

const INLINE_SCRIPT = /<script>([\s\S]*?)<\/script>/;

/**
 * Adds a content security policy to the page of `response_mode=form_post`, which the library sends without one. It sets
 * no `form-action`, because browsers also apply that to the application's redirects.
 */
export function protectFormPost(ctx: Ctx): void {
  const script = typeof ctx.body === 'string' ? INLINE_SCRIPT.exec(ctx.body)?.[1] : undefined;
  if (script === undefined || ctx.res.hasHeader('Content-Security-Policy')) return;
  const hash = createHash('sha256').update(script).digest('base64');
  ctx.set({
    'Content-Security-Policy': `default-src 'none'; script-src 'sha256-${hash}'; frame-ancestors 'none'; base-uri 'none'`,
    'Referrer-Policy': 'no-referrer',
    'X-Frame-Options': 'DENY',
    'Cache-Control': 'no-store',
  });
}

/** The library re-encodes the query of a redirect URI. `withParameters` explains why it must stay unchanged. */
export function keepRegisteredQuery(ctx: Ctx): void {
  const registered = ctx.oidc?.params?.['redirect_uri'];
  const location = String(ctx.response.get('Location') ?? '');
  if (typeof registered !== 'string' || !registered.includes('?')) return;
  if (!URL.canParse(registered) || !URL.canParse(location) || location.includes('#')) return;
  const [to, written] = [new URL(location), new URL(registered)];
  const isAnswer =
    to.protocol === written.protocol &&
    to.host === written.host &&
    to.pathname === written.pathname;
  if (!isAnswer) return;
  const added = new URLSearchParams(
    ANSWER_PARAMETERS.flatMap((name) => {
      const value = to.searchParams.get(name);
      return value === null ? [] : [[name, value] as [string, string]];
    }),
  );
  ctx.set('Location', withParameters(registered, added));
}
