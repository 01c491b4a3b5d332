/** When the authorization server asks somebody to sign in, or for their consent. */
import { interactionPolicy } from 'oidc-provider';
import { type Ctx, type Ports, tenantFor } from './authorization-ports.ts';

const { Check, base } = interactionPolicy;

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
  // A tenant's own application is not asked for, whatever device it runs on.
  const native = consent.checks.get('native_client_prompt');
  if (native !== undefined) {
    const { check } = native;
    native.check = (ctx) =>
      (ctx as Ctx).oidc.client?.['first_party'] === true ? Check.NO_NEED_TO_PROMPT : check(ctx);
  }
  return policy;
}
