/** A mailed link that this browser cannot use: it was asked for in another one, or was used. */
import { asPage, html, plainPage, send } from '@cardea/pages';
import { type Frame, frameOf } from '../../pages/frame.ts';
import { type Onward, onwardLinks } from '../../pages/onward.ts';
import { homeOf } from '../../workspaces/workspaces.module.ts';
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

/** The person signs in at the application itself here, for its answer belongs to the other browser. */
async function elsewherePage(
  { workspaces }: InteractionDependencies,
  { headers }: AnyRequest,
  { client, redirectUri }: Open,
) {
  const frame = frameOf(await workspaces.tenant(client.tenantId), headers);
  const { say } = frame;
  const href = homeOf(redirectUri);
  const homes = href === undefined ? [] : [{ name: client.application.name, href }];
  const here = say(homes.length === 0 ? 'elsewhere.start' : 'elsewhere.here');
  const more = html`<p>${here}</p>${onwardLinks(frame, homes)}`;
  return plainPage(frame, say('elsewhere.title'), say('elsewhere.code'), more);
}

/** The cookie outlives its interaction only where the person went on with it. */
async function overPage(needs: InteractionDependencies, { headers, params }: AnyRequest) {
  const isOwn = needs.server().interactionId(headers['cookie']) === params.uid;
  const { frame, homes } = await signedInFrame(needs, headers);
  const { say } = frame;
  return isOwn
    ? plainPage(frame, say('over.title'), say('over.lead'), onwardLinks(frame, homes))
    : plainPage(frame, say('gone.title'), say('gone.lead'), onwardLinks(frame, homes));
}

/** The tenant of the person who is signed in, who may go on to its applications. */
async function signedInFrame(
  { applicationHomes, applicationSessions, server, workspaces }: InteractionDependencies,
  headers: AnyRequest['headers'],
): Promise<{ readonly frame: Frame; readonly homes: readonly Onward[] }> {
  const signedIn = await server().signedIn(headers['cookie']);
  const browser = signedIn && (await applicationSessions.browserOf(signedIn.browserSid));
  if (browser === undefined) return { frame: frameOf(undefined, headers), homes: [] };
  const { tenantId } = browser;
  const [tenant, homes] = await Promise.all([
    workspaces.tenant(tenantId),
    applicationHomes(tenantId),
  ]);
  return { frame: frameOf(tenant, headers), homes };
}
