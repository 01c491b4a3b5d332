/**
 * Signing in at the authorization server, one factor after another, by HTML forms or by JSON of a same-origin client.
 */
import { type Endpoint, endpoint } from '@cardea/http';
import { asPage, languageOf } from '@cardea/pages';
import Type, { type Static } from 'typebox';
import type { HostedOutcome } from '../../authentication/authentication.module.ts';
import { credentialField, SecondFactorMethod } from '../../http/answers.ts';
import { pastedToken } from '../../pages/link-page.ts';
import { showElsewhere } from './elsewhere.ts';
import { type Interaction, keepProgress, type Progress } from './interaction.ts';
import {
  type AnyRequest,
  answered,
  type Code,
  failed,
  goOn,
  type InteractionDependencies,
  mailSent,
  NOT_FOUND,
  OPTIONAL_FORM,
  PATH,
  POST,
  pageOf,
  postedTo,
  redirected,
  refusedAt,
} from './posted.ts';
import {
  CODE_CHARACTERS_MAX,
  codeText,
  emailText,
  passwordText,
  text,
  tokenText,
} from './typed-fields.ts';

const ID_CHARACTERS_MAX = 128;
const RESPONSE_CHARACTERS_MAX = 12 * 1_024;

/** A passkey's response: an object in JSON, a string in a form. */
const passkey = {
  challenge_id: text(ID_CHARACTERS_MAX),
  response: Type.Optional(
    Type.Union([credentialField, Type.String({ maxLength: RESPONSE_CHARACTERS_MAX })]),
  ),
};

const LogIn = Type.Object(
  {
    method: Type.Optional(Type.Enum(['password', 'email_otp', 'magic_link', 'passkey'])),
    email: emailText,
    password: passwordText,
    code: codeText,
    token: tokenText,
    ...passkey,
  },
  { additionalProperties: false },
);

export const interactionLoginRoute = (needs: InteractionDependencies): Endpoint =>
  endpoint(
    {
      ...POST,
      name: 'interaction_login',
      summary: 'Sign in at the authorization server',
      description:
        'Shows the first factor at the hosted pages: password, mailed code or link, or passkey. `magic_link` takes the `token` of the link, or the `code` of the same mail. Failures count as those of the API.',
      path: `${PATH}/login`,
      body: LogIn,
    },
    async (request) => {
      const found = await postedTo(needs, request);
      const { email, method, code, token } = request.body;
      if ('refused' in found) {
        const isLink = found === NOT_FOUND && token !== undefined;
        return isLink ? showElsewhere(needs, request) : failed(request, found);
      }
      const isMail = method === 'email_otp' || method === 'magic_link';
      if (isMail && (code ?? token) === undefined) {
        return mailed(needs, request, { found, method, email: email ?? '' });
      }
      const signIn = (own: Interaction) => signedInBy(needs, request, own);
      return answered(needs, request, { found, signIn, email });
    },
  );

/** Signs in by the first factor that the request contains. */
async function signedInBy(
  { hostedSignIn }: InteractionDependencies,
  given: AnyRequest & { readonly body: Static<typeof LogIn> },
  { client, progress }: Interaction,
): Promise<HostedOutcome> {
  const { method = 'password', email = '', password = '', code = '', token = '' } = given.body;
  const request = { ...given, tenantId: client.tenantId };
  const challengeId = progress.step === 'mailed' ? progress.challengeId : '';
  switch (method) {
    case 'password':
      return hostedSignIn.byPassword(request, { email, password });
    case 'magic_link':
      return given.body.code === undefined
        ? hostedSignIn.byLink(request, { token: pastedToken(token) })
        : hostedSignIn.byCode(request, { purpose: 'magic_link', challengeId, code });
    case 'email_otp':
      return hostedSignIn.byCode(request, { purpose: 'otp', challengeId, code });
    case 'passkey': {
      const shown = passkeyOf(given.body);
      return shown === undefined
        ? refusedBy('invalid_passkey')
        : hostedSignIn.byPasskey(request, shown);
    }
  }
}

/**
 * Sends the code or the link, whether or not the address has an account, and continues to the page that waits for it.
 */
async function mailed(
  needs: InteractionDependencies,
  request: AnyRequest,
  of: {
    readonly found: Interaction;
    readonly method: 'email_otp' | 'magic_link';
    readonly email: string;
  },
) {
  const { found, email } = of;
  const method = of.method === 'email_otp' ? 'otp' : 'magic_link';
  const own = { ...request, tenantId: found.client.tenantId };
  const interaction = found.stored.uid;
  const language = languageOf(request.headers, found.stored.params['ui_locales']);
  const sent = await needs.hostedSignIn.mail(own, { email, method, interaction, language });
  if ('status' in sent) return refusedAt(needs, request, { found, outcome: sent, email });
  const { challenge_id } = sent;
  const progress = { step: 'mailed', method, email, challengeId: challenge_id } as const;
  return mailSent(needs, request, { found, progress, purpose: method, ok: { challenge_id } });
}

/** A request without an address shows the page that asks for one. */
export const interactionForgotPasswordRoute = (needs: InteractionDependencies): Endpoint =>
  endpoint(
    {
      ...POST,
      name: 'interaction_forgot_password',
      summary: 'Ask at the authorization server for a mail to set a new password',
      description:
        'Mails a link to set a new password, if the address has an account. Without an address it leads to the page that asks for one.',
      path: `${PATH}/forgot-password`,
      body: Type.Object({ email: emailText }, { additionalProperties: false }),
      input: OPTIONAL_FORM,
    },
    async (request) => {
      const found = await postedTo(needs, request);
      if ('refused' in found) return failed(request, found);
      const { email } = request.body;
      if (email === undefined) {
        await keepProgress(found, { step: 'password_forgotten' });
        return goOn(request, pageOf(request));
      }
      const own = { ...request, tenantId: found.client.tenantId };
      const language = languageOf(request.headers, found.stored.params['ui_locales']);
      const outcome = await needs.hostedSignIn.mailReset(own, { email, language });
      if (outcome !== undefined) return refusedAt(needs, request, { found, outcome, email });
      const progress = { step: 'reset_mailed', email } as const;
      const ok = { redirect_to: pageOf(request) };
      return mailSent(needs, request, { found, progress, purpose: 'reset', ok });
    },
  );

const Second = Type.Object(
  {
    method: SecondFactorMethod,
    code: Type.Optional(Type.String({ minLength: 1, maxLength: CODE_CHARACTERS_MAX })),
    ...passkey,
  },
  { additionalProperties: false },
);

export const interactionMfaRoute = (needs: InteractionDependencies): Endpoint =>
  endpoint(
    {
      ...POST,
      name: 'interaction_mfa',
      summary: 'Show the second factor at the authorization server',
      description:
        'Shows the second factor at the hosted pages. Failures count as those of the API.',
      path: `${PATH}/mfa`,
      body: Second,
    },
    async (request) => {
      const found = await postedTo(needs, request);
      if ('refused' in found) return failed(request, found);
      const signIn = async ({ client, progress }: Interaction) => {
        if (progress.step !== 'second_factor') return refusedBy('invalid_mfa_token');
        const { method, code, challenge_id } = request.body;
        const shown = {
          mfa_token: progress.token,
          method,
          ...(code === undefined ? {} : { code }),
          ...(challenge_id === undefined ? {} : { challenge_id }),
          ...passkeyOf(request.body),
        };
        const own = { ...request, tenantId: client.tenantId };
        return needs.hostedSignIn.bySecondFactor(own, shown);
      };
      return answered(needs, request, { found, signIn });
    },
  );

/** Returns the challenge for a passkey, or the key of an authenticator app that is being enrolled. */
export const interactionChallengeRoute = (needs: InteractionDependencies): Endpoint =>
  endpoint(
    {
      ...POST,
      name: 'interaction_challenge',
      summary: 'Prepare a factor at the authorization server',
      description:
        'Prepares a factor of a sign-in at the hosted pages: sends a code or link, or answers options for a passkey.',
      path: `${PATH}/challenge`,
      body: Type.Object(
        { method: Type.Enum(['totp', 'passkey']) },
        { additionalProperties: false },
      ),
    },
    async (request) => {
      const found = await postedTo(needs, request);
      if ('refused' in found) return failed(request, found);
      const { client, progress } = found;
      const { method } = request.body;
      const own = { ...request, tenantId: client.tenantId };
      const made =
        progress.step === 'second_factor'
          ? await needs.hostedSignIn.secondChallenge(own, { mfa_token: progress.token, method })
          : await needs.hostedSignIn.passkeyChallenge(own, undefined);
      if ('status' in made) return refusedAt(needs, request, { found, outcome: made });
      const { challenge_id, options } = made;
      const begun = totpOf(progress, made);
      if (method === 'totp' && begun !== undefined) await keepProgress(found, begun);
      if (asPage(request.headers)) return redirected(pageOf(request));
      return {
        ok: { challenge_id, ...(options === undefined ? {} : { options: { ...options } }) },
      };
    },
  );

function totpOf(
  progress: Progress,
  { challenge_id: challengeId, options }: { challenge_id: string; options?: object },
): Progress | undefined {
  const { secret, otpauth_url: url } = (options ?? {}) as { secret?: string; otpauth_url?: string };
  if (progress.step !== 'second_factor' || secret === undefined || url === undefined) {
    return undefined;
  }
  return { ...progress, totp: { challengeId, secret, url } };
}

type Credential = Static<typeof credentialField>;

/** Returns undefined for input that no browser produces. The verifier checks the contents. */
function passkeyOf({
  challenge_id,
  response,
}: {
  readonly challenge_id?: string;
  readonly response?: Credential | string;
}): { readonly challenge_id: string; readonly response: Credential } | undefined {
  if (challenge_id === undefined || response === undefined) return undefined;
  if (typeof response !== 'string') return { challenge_id, response };
  try {
    const read: unknown = JSON.parse(response);
    return isCredential(read) ? { challenge_id, response: read } : undefined;
  } catch {
    return undefined; // The text is not JSON.
  }
}

function isCredential(read: unknown): read is Credential {
  if (typeof read !== 'object' || read === null) return false;
  const { id, rawId, type, response } = read as { readonly [name: string]: unknown };
  const texts = [id, rawId, type].every((each) => typeof each === 'string');
  return texts && typeof response === 'object' && response !== null;
}

const refusedBy = (code: Code): HostedOutcome => ({
  status: 'refused',
  code,
  retryAfter: undefined,
});
