/** An error that cannot be sent to a redirect URI: our own page for browsers, JSON for others. */
import type { Ctx } from '../../adapters/authorization-ports.ts';
import { errorPage } from '../interactions/page.ts';

const MESSAGE = 'The application sent you here with a request that cannot be answered.';

export function showError(
  ctx: Ctx,
  { error, error_description }: { error: string; error_description?: string },
): void {
  ctx.set('Cache-Control', 'no-store');
  if (!(ctx.get('accept') ?? '').includes('text/html')) {
    ctx.body = { error, ...(error_description === undefined ? {} : { error_description }) };
    return;
  }
  // The codes of the protocol are words of it; its descriptions may name what was sent.
  const { html, headers } = errorPage(`${MESSAGE} (${error})`);
  for (const [name, value] of Object.entries(headers)) ctx.set(name, value);
  ctx.body = html;
}
