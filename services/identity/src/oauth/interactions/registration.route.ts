/** Registration at the authorization server, and the mailed proof of the address that completes it. */
import { type Endpoint, endpoint } from '@cardea/http';
import { languageOf, page, send } from '@cardea/pages';
import Type from 'typebox';
import { pastedToken } from '../../pages/link-page.ts';
import { showElsewhere } from './elsewhere.ts';
import { findOpenInteraction, type Interaction, keepProgress } from './interaction.ts';
import { frameFor } from './interaction-page.ts';
import { interactionView } from './interaction-view.ts';
import {
  type AnyRequest,
  answered,
  COMMON,
  failed,
  goOn,
  type InteractionDependencies,
  interactionOf,
  mailSent,
  NOT_FOUND,
  OPTIONAL_FORM,
  PATH,
  POST,
  pageOf,
  postedTo,
  REGISTRATION_REFUSALS,
  redirected,
  refusedAt,
} from './posted.ts';
import { proofPage } from './registration-pages.ts';
import { codeText, emailText, passwordText, text, tokenText } from './typed-fields.ts';

const NAME_CHARACTERS_MAX = 1_024;

const atPage = (request: AnyRequest, { stored }: Interaction) => ({
  interaction: stored.uid,
  language: languageOf(request.headers, stored.params['ui_locales']),
});

/** A request without an address shows the page that asks for one. */
export const interactionRegisterRoute = (needs: InteractionDependencies): Endpoint =>
  endpoint(
    {
      ...POST,
      name: 'interaction_register',
      summary: 'Register at the authorization server',
      description:
        'Registers a user in the tenant of the application, as `POST /api/v1/auth/register` does and under its limits. The answer is the same for an address that is taken; its owner gets a mail. Go on with the code or link of the mail. Without an address it leads to the page that asks for one.',
      path: `${PATH}/register`,
      body: Type.Object(
        {
          email: emailText,
          password: passwordText,
          display_name: text(NAME_CHARACTERS_MAX),
        },
        { additionalProperties: false },
      ),
      input: OPTIONAL_FORM,
      refusals: REGISTRATION_REFUSALS,
    },
    async (request) => {
      const found = await postedTo(needs, request);
      if ('refused' in found) return failed(request, found);
      const { email, password = '', display_name: displayName = '' } = request.body;
      if (email === undefined) {
        await keepProgress(found, { step: 'registering' });
        return goOn(request, pageOf(request));
      }
      const own = { ...request, tenantId: found.client.tenantId };
      const name = displayName.trim() === '' ? undefined : displayName;
      const of = { email, password, displayName: name, ...atPage(request, found) };
      const made = await needs.hostedSignIn.register(own, of);
      if ('status' in made) {
        const at: Interaction = { ...found, progress: { step: 'registering' } };
        return refusedAt(needs, request, { found: at, outcome: made, email, displayName });
      }
      const progress = { step: 'registered', ...made.pending } as const;
      const ok = { redirect_to: pageOf(request) };
      return mailSent(needs, request, { found, progress, purpose: 'verify', ok });
    },
  );

/** A request with neither code nor link sends the mail again. */
export const interactionVerifyEmailRoute = (needs: InteractionDependencies): Endpoint =>
  endpoint(
    {
      ...POST,
      name: 'interaction_verify_email',
      summary: 'Go on after a registration at the authorization server',
      description:
        'Takes the code or link that was mailed after a registration in this browser, and signs the user in. With neither it sends the mail again. Ten wrong ones in a day end it.',
      path: `${PATH}/verify-email`,
      body: Type.Object({ code: codeText, token: tokenText }, { additionalProperties: false }),
      input: OPTIONAL_FORM,
    },
    async (request) => {
      const found = await postedTo(needs, request);
      if ('refused' in found) {
        const isLink = found === NOT_FOUND && request.body.token !== undefined;
        return isLink ? showElsewhere(needs, request) : failed(request, found);
      }
      const { progress } = found;
      if (progress.step !== 'registered') return goOn(request, pageOf(request));
      const { step: _step, ...pending } = progress;
      const own = { ...request, tenantId: found.client.tenantId };
      const { code, token } = request.body;
      if (code === undefined && token === undefined) {
        const again = { ...pending, ...atPage(request, found) };
        const outcome = await needs.hostedSignIn.mailRegistrationAgain(own, again);
        if (outcome !== undefined) return refusedAt(needs, request, { found, outcome });
        const ok = { redirect_to: pageOf(request) };
        return mailSent(needs, request, { found, progress, purpose: 'verify', ok });
      }
      const shown = token === undefined ? { code: code ?? '' } : { token: pastedToken(token) };
      const signIn = () => needs.hostedSignIn.byRegistration(own, { ...pending, ...shown });
      return answered(needs, request, { found, signIn });
    },
  );

/** The target of the mailed link. In another browser it shows the page that proves the address there. */
export const interactionVerifyEmailPageRoute = (needs: InteractionDependencies): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'interaction_verify_email_page',
      summary: 'Page of a link to prove an address at the authorization server',
      description:
        'Shows the page that the link of a registration opens. In another browser than the one that registered, it leads to the page that proves the address alone.',
      method: 'get',
      path: `${PATH}/verify-email`,
      ok: Type.String(),
      response: {
        others: { 303: Type.Object({}, { additionalProperties: false }) },
        mediaType: 'text/html',
        errors: 'oauth',
        isSecret: true,
      },
      refusals: { interaction_not_found: 404 },
    },
    async (request) => {
      const found = await interactionOf(needs, request);
      if (found?.progress.step !== 'registered') {
        // Browsers keep the part after `#` through a redirect.
        const isAwaited = found === undefined && (await isAwaitedElsewhere(needs, request));
        const query = isAwaited ? '?elsewhere=true' : '';
        return redirected(`${needs.settings.PUBLIC_URL}/api/v1/auth/verify-email${query}`);
      }
      const view = await interactionView(needs, found);
      const frame = frameFor(view, found, request.headers);
      const { redirectUri, client } = found;
      const at = { frame, view, path: pageOf(request), tenantId: client.tenantId, publicUrl: '' };
      return { raw: send(200, page(frame, { ...proofPage(at), redirectUri })) };
    },
  );

/** Whether a registration waits for its proof in another browser. */
async function isAwaitedElsewhere(
  needs: InteractionDependencies,
  { params }: AnyRequest,
): Promise<boolean> {
  const open = await findOpenInteraction(needs, params.uid);
  return open?.progress.step === 'registered';
}
