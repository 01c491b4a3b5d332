/**
 * Signing in at the hosted pages of the authorization server: the same attempts, limits and second factors as
 * at the API, but ended in a session of the browser instead of tokens.
 */
import type { Request } from '@cardea/http';
import type { SessionFacts } from '../../sessions/sessions.module.ts';
import type { Due, EndAttempt } from '../attempts/end-attempt.ts';
import { refusalOfLogin } from '../passwords/log-in/log-in.ts';
import type { PasswordAttempt } from '../passwords/password-attempt.ts';
import {
  type SecondFactorDependencies,
  type ShownSecond,
  secondFactorShown,
} from '../second-factor/show-second.ts';

type AnyRequest = Request<unknown, unknown, unknown>;

export type HostedOutcome =
  | { readonly status: 'signed_in'; readonly session: SessionFacts }
  | {
      readonly status: 'second_factor_due';
      readonly mfaToken: string;
      /** As every sign-in answers it. */
      readonly shown: Pick<Due['answer'], 'mfa_methods' | 'mfa_required'>;
    }
  | { readonly status: 'refused'; readonly code: string; readonly retryAfter: string | undefined };

export type HostedSignIn = {
  /** The tenant of the request is the one to sign in to. */
  readonly byPassword: (
    request: AnyRequest,
    shown: { readonly email: string; readonly password: string },
  ) => Promise<HostedOutcome>;
  readonly bySecondFactor: (request: AnyRequest, shown: ShownSecond) => Promise<HostedOutcome>;
};

type Dependencies = SecondFactorDependencies & {
  readonly passwordAttempt: PasswordAttempt;
  readonly endAttempt: Pick<EndAttempt, 'inBrowser'>;
};

export function hostedSignIn(needs: Dependencies): HostedSignIn {
  type Ended = Awaited<ReturnType<EndAttempt['inBrowser']>>;
  const outcome = (ended: Ended): HostedOutcome => {
    switch (ended.status) {
      case 'refused':
        return refused(refusalOfLogin(ended));
      case 'browser':
        return { status: 'signed_in', session: ended.session };
      case 'second_factor_due': {
        const { mfa_token: mfaToken, mfa_required, mfa_methods } = ended.answer;
        return { status: 'second_factor_due', mfaToken, shown: { mfa_required, mfa_methods } };
      }
    }
  };
  return {
    byPassword: async (request, shown) => {
      const tried = await needs.passwordAttempt(request, shown);
      if ('refused' in tried) return refused(tried);
      const { attempt, command, ...of } = tried;
      if (attempt.status === 'refused') return refused(refusalOfLogin(attempt));
      return outcome(await needs.endAttempt.inBrowser(attempt, { request, ...of }, command));
    },
    bySecondFactor: async (request, body) => {
      const shown = await secondFactorShown(needs, { ...request, params: {}, query: {}, body });
      if ('refused' in shown) return refused(shown);
      const { attempt, command, recoveryCodes: _codes, ...of } = shown;
      return outcome(await needs.endAttempt.inBrowser(attempt, { request, ...of }, command));
    },
  };
}

const refused = (refusal: {
  readonly refused: string;
  readonly headers?: { readonly [name: string]: string };
}): HostedOutcome => ({
  status: 'refused',
  code: refusal.refused,
  retryAfter: refusal.headers?.['Retry-After'],
});
