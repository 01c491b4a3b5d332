/**
 * Signing in at the hosted pages of the authorization server. Attempts, limits and second factors are those of the API,
 * but the result is a browser session instead of tokens.
 */
import type { Request } from '@cardea/http';
import type { Language } from '@cardea/mail';
import type { MailedFault } from '../../mail/mail.module.ts';
import type { SessionFacts } from '../../sessions/sessions.module.ts';
import type { SecondFactor } from '../attempts/attempt.ts';
import type { Due, EndAttempt, MetAttemptOf } from '../attempts/end-attempt.ts';
import { type SendDependencies, send } from '../mailed-secrets/mailed-secret.ts';
import { mailResetLink } from '../passwords/forgot-password/mail-reset-link.ts';
import { type PasswordAttempt, refusalOfLogin } from '../passwords/log-in/password-attempt.ts';
import { secondFactorChallenge } from '../second-factor/challenge-second.ts';
import {
  type SecondFactorDependencies,
  type ShownSecond,
  secondFactorShown,
} from '../second-factor/show-second.ts';
import { type FirstFactors, firstFactors } from './first-factors.ts';
import {
  mailRegistrationAgain,
  type PendingRegistration,
  proveRegistration,
  type Registration,
  registerHosted,
  type ShownProof,
} from './hosted-registration.ts';

type AnyRequest = Request<unknown, unknown, unknown>;
type AtPage = {
  readonly interaction: string;
  /** The language of the page. */
  readonly language: Language | undefined;
};

/** The challenge in the form that clients of the API get. */
type Challenge = { readonly challenge_id: string; readonly options?: object };

export type Refusal = {
  readonly status: 'refused';
  readonly code: string;
  readonly retryAfter: string | undefined;
  /** Details about the refused field. */
  readonly details?: object;
  /** Why a link was refused; the page shows it. */
  readonly linkFault?: MailedFault | undefined;
};
export type HostedOutcome =
  | {
      readonly status: 'signed_in';
      readonly session: SessionFacts;
      /** Set if a second factor was enrolled. The codes are shown only this once. */
      readonly recoveryCodes: readonly string[] | undefined;
    }
  | {
      readonly status: 'second_factor_due';
      readonly mfaToken: string;
      /** The fields that every sign-in response has. */
      readonly shown: Pick<
        Due['answer'],
        'mfa_enrollment_required' | 'mfa_methods' | 'mfa_required'
      >;
    }
  | Refusal;

/** The tenant of each request is the tenant to sign in to. */
export type HostedSignIn = {
  readonly byPassword: (
    request: AnyRequest,
    shown: { readonly email: string; readonly password: string },
  ) => Promise<HostedOutcome>;
  readonly bySecondFactor: (request: AnyRequest, shown: ShownSecond) => Promise<HostedOutcome>;
  /** Returns the data that is needed to verify or enrol a second factor. */
  readonly secondChallenge: (
    request: AnyRequest,
    of: { readonly mfa_token: string; readonly method: SecondFactor },
  ) => Promise<Challenge | Refusal>;
  /** Mails a code, or a link that leads back to the given page. */
  readonly mail: (
    request: AnyRequest,
    of: AtPage & { readonly email: string; readonly method: 'otp' | 'magic_link' },
  ) => Promise<Challenge | Refusal>;
  /** Mails a link to set a new password. Returns undefined when the mail is queued. */
  readonly mailReset: (
    request: AnyRequest,
    of: { readonly email: string; readonly language: Language | undefined },
  ) => Promise<Refusal | undefined>;
  /** Creates an account. The mailed proof then signs in. */
  readonly register: (
    request: AnyRequest,
    of: AtPage & Registration,
  ) => Promise<{ readonly pending: PendingRegistration } | Refusal>;
  readonly mailRegistrationAgain: (
    request: AnyRequest,
    of: AtPage & PendingRegistration,
  ) => Promise<Refusal | undefined>;
  readonly byRegistration: (request: AnyRequest, shown: ShownProof) => Promise<HostedOutcome>;
} & {
  readonly [by in keyof FirstFactors]: (
    request: AnyRequest,
    shown: Parameters<FirstFactors[by]>[1],
  ) => Promise<by extends 'passkeyChallenge' ? Challenge | Refusal : HostedOutcome>;
};

type Dependencies = SecondFactorDependencies &
  SendDependencies &
  Parameters<typeof registerHosted>[0] &
  Parameters<typeof firstFactors>[0] & {
    readonly passwordAttempt: PasswordAttempt;
    readonly endAttempt: Pick<EndAttempt, 'inBrowser'>;
  };

export function hostedSignIn(needs: Dependencies): HostedSignIn {
  const end = async (
    request: AnyRequest,
    met: MetAttemptOf,
    recoveryCodes?: readonly string[],
  ): Promise<HostedOutcome> => {
    const { attempt, command, ...of } = met;
    return outcomeOf(await needs.endAttempt.inBrowser(attempt, { request, ...of }, command), {
      recoveryCodes,
    });
  };
  const { passkeyChallenge, ...factors } = firstFactors(needs);
  const by =
    <Shown>(factor: (request: AnyRequest, shown: Shown) => Promise<MetAttemptOf | RefusedAnswer>) =>
    async (request: AnyRequest, shown: Shown): Promise<HostedOutcome> => {
      const met = await factor(request, shown);
      return 'refused' in met ? refused(met) : end(request, met);
    };
  return {
    byPassword: by(async (request, shown) => {
      const tried = await needs.passwordAttempt(request, shown);
      if ('refused' in tried) return tried;
      const { attempt, ...of } = tried;
      return attempt.status === 'refused' ? refusalOfLogin(attempt) : { attempt, ...of };
    }),
    byPasskey: by(factors.byPasskey),
    byCode: by(factors.byCode),
    byLink: by(factors.byLink),
    byProvider: by(factors.byProvider),
    bySecondFactor: async (request, body) => {
      const shown = await secondFactorShown(needs, { ...request, params: {}, query: {}, body });
      if ('refused' in shown) return refused(shown);
      const { recoveryCodes, ...met } = shown;
      return end(request, met, recoveryCodes);
    },
    passkeyChallenge: async (request) => challengeOf(await passkeyChallenge(request)),
    secondChallenge: async (request, body) =>
      challengeOf(await secondFactorChallenge(needs, { ...request, params: {}, query: {}, body })),
    mail: async (request, { email, method, interaction, language }) => {
      const at = { language, ...(method === 'magic_link' ? { interaction } : {}) };
      const sent = await send(needs, { ...request, body: { email } }, method, at);
      if ('disabled' in sent) return refused({ refused: 'login_disabled' });
      return 'refused' in sent ? refused(sent) : { challenge_id: sent.ok.challenge_id };
    },
    mailReset: async (request, of) => {
      const mailed = await mailResetLink(needs, request, of);
      return 'refused' in mailed ? refused(mailed) : undefined;
    },
    register: async (request, of) => {
      const made = await registerHosted(needs, request, of);
      return 'refused' in made ? refused(made) : made;
    },
    mailRegistrationAgain: async (request, of) => {
      const mailed = await mailRegistrationAgain(needs, request, of);
      return 'refused' in mailed ? refused(mailed) : undefined;
    },
    byRegistration: by((request, shown) => proveRegistration(needs, request, shown)),
  };
}

type RefusedAnswer = {
  readonly refused: string;
  readonly linkFault?: MailedFault;
  readonly headers?: { readonly [name: string]: string };
  readonly details?: object;
};

function outcomeOf(
  ended: Awaited<ReturnType<EndAttempt['inBrowser']>>,
  more: { readonly recoveryCodes: readonly string[] | undefined },
): HostedOutcome {
  switch (ended.status) {
    case 'refused':
      return refused(refusalOfLogin(ended));
    case 'browser':
      return { status: 'signed_in', session: ended.session, ...more };
    case 'second_factor_due': {
      const { mfa_token: mfaToken, mfa_required, mfa_methods, ...due } = ended.answer;
      const enrolment =
        due.mfa_enrollment_required === true ? ({ mfa_enrollment_required: true } as const) : {};
      const shown = { mfa_required, mfa_methods, ...enrolment };
      return { status: 'second_factor_due', mfaToken, shown };
    }
  }
}

const challengeOf = (answer: RefusedAnswer | { readonly ok: Challenge }): Challenge | Refusal =>
  'refused' in answer ? refused(answer) : answer.ok;

const refused = (refusal: RefusedAnswer): Refusal => ({
  status: 'refused',
  code: refusal.refused,
  retryAfter: refusal.headers?.['Retry-After'],
  linkFault: refusal.linkFault,
  ...(refusal.details === undefined ? {} : { details: refusal.details }),
});
