/**
 * The page for a mailed link that this browser cannot use, because another browser requested it or because it was used
 * already.
 */
import { asPage, html, plainPage, send } from '@cardea/pages';
import { frameOf } from '../../pages/frame.ts';
import { onwardLinks } from '../../pages/onward.ts';
import { homeOf } from '../../workspaces/workspaces.module.ts';
import { pagesClientId } from '../page-sign-in/pages-client.ts';
import { findOpenInteraction, type Interaction } from './interaction.ts';
import { type AnyRequest, type InteractionDependencies, NOT_FOUND, REFUSALS } from './posted.ts';

export async function showElsewhere(needs: InteractionDependencies, request: AnyRequest) {
  const { headers, params } = request;
  if (!asPage(headers)) return NOT_FOUND;
  const open = await findOpenInteraction(needs, params.uid);
  const shown =
    open === undefined ? await overPage(needs, request) : await elsewherePage(needs, request, open);
  return { raw: send(REFUSALS.interaction_not_found, shown) };
}

type Open = Pick<Interaction, 'client' | 'redirectUri'>;

/**
 * Tells the person to sign in at the application here. The response to the open interaction belongs to the other
 * browser.
 */
async function elsewherePage(
  { onward, workspaces }: InteractionDependencies,
  { headers }: AnyRequest,
  { client, redirectUri }: Open,
) {
  const { tenantId, application } = client;
  const frame = frameOf(await workspaces.tenant(tenantId), headers);
  const { say } = frame;
  const href = homeOf(redirectUri);
  const isOwn = href === undefined || application.id === pagesClientId(tenantId);
  const to = isOwn ? await onward(tenantId) : [{ name: application.name, href }];
  const more = html`<p>${say('elsewhere.here')}</p>${onwardLinks(frame, to)}`;
  return plainPage(frame, say('elsewhere.title'), say('elsewhere.code'), more);
}

/** The browser keeps the cookie of an ended interaction only if the person completed that interaction in it. */
async function overPage(needs: InteractionDependencies, { headers, params }: AnyRequest) {
  const isOwn = needs.server().interactionId(headers['cookie']) === params.uid;
  const tenantId = await signedInTenant(needs, headers);
  const tenant = tenantId === undefined ? undefined : await needs.workspaces.tenant(tenantId);
  const frame = frameOf(tenant, headers);
  const { say } = frame;
  const more = onwardLinks(frame, await needs.onward(tenantId));
  return isOwn
    ? plainPage(frame, say('over.title'), say('over.lead'), more)
    : plainPage(frame, say('gone.title'), say('gone.lead'), more);
}

/** The tenant of the signed-in person, who may see that tenant's applications. */
async function signedInTenant(
  { applicationSessions, server }: InteractionDependencies,
  headers: AnyRequest['headers'],
): Promise<string | undefined> {
  const signedIn = await server().signedIn(headers['cookie']);
  return signedIn && (await applicationSessions.browserOf(signedIn.browserSid))?.tenantId;
}
