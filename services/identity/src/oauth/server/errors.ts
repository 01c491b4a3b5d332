/** Answers an error that cannot be sent to a redirect URI: browsers get our own page, other callers JSON. */
import { plainPage, wantsPage } from '@cardea/pages';
import type { Ctx } from '../../adapters/authorization-ports.ts';
import { frameOf } from '../../pages/frame.ts';

export function showError(
  ctx: Ctx,
  { error, error_description }: { error: string; error_description?: string },
): void {
  ctx.set('Cache-Control', 'no-store');
  if (!wantsPage({ accept: ctx.get('accept') })) {
    ctx.body = { error, ...(error_description === undefined ? {} : { error_description }) };
    return;
  }
  // The page shows the protocol's error code only. An error description could quote the request.
  const frame = frameOf(undefined, { 'accept-language': ctx.get('accept-language') });
  const { say } = frame;
  const text = say('failed.request', { code: error });
  const { html, headers } = plainPage(frame, say('failed.title'), text);
  for (const [name, value] of Object.entries(headers)) ctx.set(name, value);
  ctx.body = html;
}
