/** Determines when the authorization server requires a sign-in or a consent. */
import { interactionPolicy } from 'oidc-provider';
import { type Ctx, type Ports, type ShownClaim, tenantFor } from './authorization-ports.ts';
import { isAboutDevice } from './device-flow.ts';

const { Check, Prompt, base } = interactionPolicy;

/** The values of `prompt` that applications may send. */
export const PROMPTS: readonly string[] = [
  ...['login', 'consent', 'none', 'select_account'],
  // Defined by Initiating User Registration via OpenID Connect 1.0.
  'create',
];

export function loginPolicy(ports: Ports) {
  const policy = base();
  const login = policy.get('login');
  const consent = policy.get('consent');
  if (login === undefined || consent === undefined)
    throw new Error('the library has other prompts');
  login.checks.add(
    new Check('sign_in_ended', 'the sign-in has ended', 'login_required', async (context) => {
      const ctx = context as Ctx;
      const { session } = ctx.oidc;
      if (session?.accountId === undefined) return Check.NO_NEED_TO_PROMPT;
      const tenantId = await tenantFor(ports, ctx);
      const sid = session.acr ?? '';
      const goesOn =
        (await ports.account(tenantId, session.accountId)) !== undefined &&
        (await ports.isSignedIn(tenantId, session.accountId, sid));
      return goesOn ? Check.NO_NEED_TO_PROMPT : Check.REQUEST_PROMPT;
    }),
  );
  login.checks.add(
    new Check(
      'roles_of_device',
      'roles need a sign-in of this flow',
      'login_required',
      (context) =>
        isAboutDevice(context as Ctx) &&
        (context as Ctx).oidc.requestParamScopes.has('roles') &&
        (context as Ctx).oidc.result?.login === undefined
          ? Check.REQUEST_PROMPT
          : Check.NO_NEED_TO_PROMPT,
    ),
  );
  consent.checks.add(
    new Check('device', 'a device acts for nobody unasked', 'interaction_required', (context) =>
      isAboutDevice(context as Ctx) && (context as Ctx).oidc.result?.consent === undefined
        ? Check.REQUEST_PROMPT
        : Check.NO_NEED_TO_PROMPT,
    ),
  );
  consent.checks.add(claimsShown(ports));
  policy.add(unlessSignedIn('select_account'), policy.indexOf(consent));
  // This prompt comes before the sign-in, because the registration page also leads to the sign-in.
  policy.add(unlessSignedIn('create'), policy.indexOf(login));
  // The tenant's own application needs no consent, unless another program could receive its code.
  const native = consent.checks.get('native_client_prompt');
  if (native !== undefined) {
    const { check } = native;
    native.check = (ctx) =>
      isServedSilently(ports, ctx as Ctx) ? Check.NO_NEED_TO_PROMPT : check(ctx);
  }
  return policy;
}

/** Requires a consent page for claims of applications that are not first-party. */
function claimsShown(ports: Ports) {
  const found = new WeakMap<object, readonly ShownClaim[]>();
  return new Check(
    'claims_missing',
    'claims of the application were not shown',
    'consent_required',
    async (context) => {
      const ctx = context as Ctx;
      const { client, session, result, requestParamScopes } = ctx.oidc;
      const isDevice = isAboutDevice(ctx);
      const isUnasked = client?.['first_party'] === true && !isDevice;
      if (isUnasked || result?.consent !== undefined) return Check.NO_NEED_TO_PROMPT;
      const missing = await ports.claimsToShow({
        tenantId: await tenantFor(ports, ctx),
        userId: session?.accountId ?? '',
        clientId: client?.clientId ?? '',
        scopes: [...requestParamScopes],
        showsAll: isDevice,
      });
      found.set(ctx, missing);
      return missing.length === 0 ? Check.NO_NEED_TO_PROMPT : Check.REQUEST_PROMPT;
    },
    (context) => ({ missingClaims: found.get(context) ?? [] }),
  );
}

/** Skips the prompt after a sign-in in the same flow. By signing in, the person has chosen or created an account. */
function unlessSignedIn(name: 'create' | 'select_account') {
  const prompt = new Prompt({ name, requestable: true });
  const requested = prompt.checks.get(`${name}_prompt`);
  if (requested === undefined) throw new Error('the library has other prompts');
  const { check } = requested;
  requested.check = (ctx) =>
    (ctx as Ctx).oidc.result?.login === undefined ? check(ctx) : Check.NO_NEED_TO_PROMPT;
  return prompt;
}

/**
 * RFC 8252, 8.6: if the owner of a redirect URI is unknown, only a sign-in in the same flow shows that a person started
 * it.
 */
function isServedSilently({ isOwnerUnknown }: Pick<Ports, 'isOwnerUnknown'>, { oidc }: Ctx) {
  if (oidc.client?.['first_party'] !== true) return false;
  const redirectUri = oidc.params?.['redirect_uri'];
  const isUnknown = typeof redirectUri === 'string' && isOwnerUnknown(redirectUri);
  return !isUnknown || oidc.result?.login !== undefined;
}
