/**
 * The hosted pages. The same addresses also answer in JSON, because the cookie that names an interaction is bound to
 * these paths. Only pages of the deployment's own origin may post.
 */
import { type Endpoint, endpoint, isForm } from '@cardea/http';
import { page, send, wantsPage } from '@cardea/pages';
import Type from 'typebox';
import { chosenClaims, chosenScopes } from './chosen-scopes.ts';
import { showElsewhere } from './elsewhere.ts';
import { consented, finish, keepProgress } from './interaction.ts';
import { frameFor } from './interaction-page.ts';
import { interactionView, promptOf } from './interaction-view.ts';
import {
  answered,
  COMMON,
  failed,
  goOn,
  type InteractionDependencies,
  interactionOf,
  NOT_FOUND,
  OPTIONAL_FORM,
  PATH,
  POST,
  pageOf,
  postedTo,
  REFUSALS,
  showInteraction,
} from './posted.ts';
import { magicLinkPage } from './sign-in-pages.ts';

const CODE_CHARACTERS_MAX = 256;

export const interactionRoute = (needs: InteractionDependencies): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'interaction',
      summary: 'What the authorization server asks of the user',
      description:
        'Tells the hosted pages what the user is asked for now. It needs the cookie of the browser that began. An interaction lasts 10 minutes; one that waits for a mail lasts as long as the link or code of the mail.',
      method: 'get',
      path: PATH,
      response: { orPage: true, errors: 'oauth', isSecret: true },
      // The provider's response parameters.
      query: Type.Object({ error: Type.Optional(Type.String({ maxLength: 64 })) }),
      ok: Type.Object(
        { uid: Type.String(), prompt: Type.String() },
        { additionalProperties: true },
      ),
      refusals: { interaction_not_found: 404 },
    },
    async (request) => {
      const found = await interactionOf(needs, request);
      if (found === undefined) return lapsed(request);
      if (!wantsPage(request.headers)) return { ok: await interactionView(needs, found) };
      const { error } = request.query;
      const refused = error === 'email_not_verified' ? 'social_address' : error;
      return { raw: send(200, await showInteraction(needs, request, found, { refused })) };
    },
  );

export const interactionConsentRoute = (needs: InteractionDependencies): Endpoint =>
  endpoint(
    {
      ...POST,
      name: 'interaction_consent',
      summary: 'Let an application act for me',
      description:
        'Records what the user allows the application. Scopes that the user leaves out are not asked for in this flow again, and the claims of the application go with their scopes.',
      path: `${PATH}/consent`,
      // The form has one field per scope.
      body: Type.Object(
        { scopes: Type.Optional(Type.Array(Type.String({ maxLength: 128 }), { maxItems: 200 })) },
        { additionalProperties: Type.String({ maxLength: 16 }) },
      ),
      input: OPTIONAL_FORM,
      consistency: { waitsFor: ['consents'] },
    },
    async (request) => {
      const found = await postedTo(needs, request);
      if ('refused' in found) return failed(request, found);
      const { stored, client, missing, claims: shown, progress } = found;
      const userId = stored.session?.accountId;
      const isAsked = stored.prompt.name === 'consent' && progress.step === 'begun';
      if (!isAsked || userId === undefined) return goOn(request, pageOf(request));
      const granted = chosenScopes(missing, request.body, isForm(request.headers));
      const { tenantId, application } = client;
      const command = await needs.command(request, {
        tenantId,
        actor: { type: 'user', id: userId },
      });
      const claims = chosenClaims(shown, { missing, granted });
      const about = { tenantId, userId, clientId: application.id };
      const grant = { ...about, granted, claims, by: 'user' } as const;
      const wrote = await needs.userConsents.grant(grant, command);
      return goOn(request, await finish(found, consented(found)), wrote);
    },
  );

/** Continues with the signed-in account. Choosing another account starts with a restart. */
export const interactionAccountRoute = (needs: InteractionDependencies): Endpoint =>
  endpoint(
    {
      ...POST,
      name: 'select_account',
      summary: 'Go on with the account that is signed in',
      description:
        'Goes on as the person who is signed in. For another account, restart the interaction and sign in.',
      path: `${PATH}/account`,
      body: Type.Object({}, { additionalProperties: false }),
      input: OPTIONAL_FORM,
    },
    async (request) => {
      const found = await postedTo(needs, request);
      if ('refused' in found) return failed(request, found);
      if (promptOf(found) !== 'select_account') return goOn(request, pageOf(request));
      return goOn(request, await finish(found, { select_account: {} }));
    },
  );

export const interactionAbortRoute = (needs: InteractionDependencies): Endpoint =>
  endpoint(
    {
      ...POST,
      name: 'abort_interaction',
      summary: 'Go back to the application without signing in',
      description:
        'Ends the sign-in: the browser goes back to the application with `access_denied`.',
      path: `${PATH}/abort`,
      body: Type.Object({}, { additionalProperties: false }),
      input: OPTIONAL_FORM,
    },
    async (request) => {
      const found = await postedTo(needs, request);
      if ('refused' in found) return failed(request, found);
      const result = { error: 'access_denied', error_description: 'the user has cancelled' };
      return goOn(request, await finish(found, result));
    },
  );

/** Restarts a sign-in that is not complete, or replaces the signed-in account by another one. */
export const interactionRestartRoute = (needs: InteractionDependencies): Endpoint =>
  endpoint(
    {
      ...POST,
      name: 'restart_interaction',
      summary: 'Sign in another way, or as somebody else',
      description:
        'Begins the sign-in of this interaction once more, in another way or as another person.',
      path: `${PATH}/restart`,
      body: Type.Object({}, { additionalProperties: false }),
      input: OPTIONAL_FORM,
    },
    async (request) => {
      const found = await postedTo(needs, request);
      if ('refused' in found) return failed(request, found);
      await keepProgress(found, { step: 'restarted' });
      return goOn(request, pageOf(request));
    },
  );

/** The provider's redirect back to Cardea. Its code was issued to this browser only and works once. */
export const interactionSocialRoute = (needs: InteractionDependencies): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'interaction_social',
      summary: 'Come back from a provider to the authorization server',
      description:
        'Receives the browser that comes back from a provider and goes on with the sign-in at the hosted pages.',
      method: 'get',
      path: `${PATH}/social`,
      query: Type.Object({ code: Type.String({ maxLength: CODE_CHARACTERS_MAX }) }),
      ok: POST.ok,
      refusals: REFUSALS,
    },
    async (request) => {
      const found = await interactionOf(needs, request);
      if (found === undefined || request.isHead === true) return lapsed(request);
      const { code } = request.query;
      return answered(needs, request, {
        found,
        signIn: ({ client }) =>
          needs.hostedSignIn.byProvider({ ...request, tenantId: client.tenantId }, { code }),
      });
    },
  );

/** The target of a mailed link that this browser requested. Opening the page does not consume the link. */
export const interactionLinkRoute = (needs: InteractionDependencies): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'interaction_link',
      summary: 'Page of a link to sign in by at the authorization server',
      description:
        'Shows the page that a mailed link to sign in by opens. The link works in the browser that began alone; another one is told to type the code of the mail there.',
      method: 'get',
      path: `${PATH}/link`,
      ok: Type.String(),
      response: { mediaType: 'text/html', errors: 'oauth', isSecret: true },
      refusals: { interaction_not_found: 404 },
    },
    async (request) => {
      const found = await interactionOf(needs, request);
      if (found === undefined) return showElsewhere(needs, request);
      const view = await interactionView(needs, found);
      const frame = frameFor(view, found, request.headers);
      const { tenantId } = found.client;
      const at = { frame, view, path: pageOf(request), tenantId, publicUrl: '' };
      const { redirectUri } = found;
      return { raw: send(200, page(frame, { ...magicLinkPage(at), redirectUri })) };
    },
  );

const lapsed = (request: Parameters<typeof failed>[0]) => failed(request, NOT_FOUND);
