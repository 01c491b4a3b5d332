/** How people authenticate: by password, by mailed secret, by passkey or provider, and by registering. */
import type { DerivedKeys } from '@cardea/crypto';
import type { Module, ServiceDependencies } from '@cardea/service';
import type {
  Accounts,
  Join,
  Passwords,
  ToAscii,
  UserDirectory,
} from '../accounts/accounts.module.ts';
import { socialProviders } from '../adapters/social-providers.ts';
import type { Passkeys, SecondFactors } from '../factors/factors.module.ts';
import type { CodeRedemption, MailOutbox } from '../mail/mail.module.ts';
import type { FindOnward } from '../pages/onward.ts';
import type { AccessTokens, LoginSessions } from '../sessions/sessions.module.ts';
import { signins } from '../streams/signin.ts';
import type { Workspaces } from '../workspaces/workspaces.module.ts';
import { addressProofs } from './attempts/address-proofs.ts';
import { endAttempt } from './attempts/end-attempt.ts';
import { guessSecondFactor } from './attempts/guess-second-factor.ts';
import { mfaTokens } from './attempts/mfa-token.ts';
import { notifyBlocked } from './attempts/notify-blocked.policy.ts';
import { unlockRoute } from './attempts/unlock/unlock.route.ts';
import { clearLockout, verifyPassword } from './attempts/verify-password.ts';
import { authenticationRelay } from './authentication-relay.ts';
import { type HostedSignIn, hostedSignIn } from './hosted/hosted-sign-in.ts';
import { sendCodeRoute } from './mailed-secrets/send-code/send-code.route.ts';
import { sendLinkRoute } from './mailed-secrets/send-link/send-link.route.ts';
import { verifyCodeRoute } from './mailed-secrets/verify-code/verify-code.route.ts';
import {
  magicLinkPageRoute,
  verifyLinkRoute,
} from './mailed-secrets/verify-link/verify-link.route.ts';
import { passkeyFailures } from './passkeys/passkey-failure.ts';
import { passkeySignInOptionsRoute, passkeySignInRoute } from './passkeys/sign-in/sign-in.route.ts';
import { changePasswordRoute } from './passwords/change-password/change-password.route.ts';
import { forgotPasswordRoute } from './passwords/forgot-password/forgot-password.route.ts';
import { logInRoute } from './passwords/log-in/log-in.route.ts';
import { passwordAttempt } from './passwords/log-in/password-attempt.ts';
import {
  resetPasswordPageRoute,
  resetPasswordRoute,
} from './passwords/reset-password/reset-password.route.ts';
import {
  acceptInvitationPageRoute,
  acceptInvitationRoute,
} from './registrations/accept-invitation/accept-invitation.route.ts';
import { registerRoute } from './registrations/register/register.route.ts';
import { registrations } from './registrations/registration.ts';
import { signUpRoute } from './registrations/sign-up/sign-up.route.ts';
import {
  verifyEmailByLinkRoute,
  verifyEmailRoute,
} from './registrations/verify-email/verify-email.route.ts';
import { pendingSignIns } from './second-factor/pending-sign-in.ts';
import { challengeRoute, verifySecondFactorRoute } from './second-factor/verify/verify.route.ts';
import { authorizeSocialRoute } from './social/authorize/authorize.route.ts';
import { socialCallbackRoute } from './social/callback/callback.route.ts';
import { redeemSocialCodeRoute } from './social/redeem-code/redeem-code.route.ts';
import { socialCodes } from './social/social-code.ts';
import { socialHandover } from './social/social-handover.ts';
import {
  type ApplicationAccess,
  type ConfirmSignIn,
  confirmSignIn,
  stepUpRoute,
} from './step-up/step-up.route.ts';

type Dependencies = Pick<
  ServiceDependencies,
  | 'authenticator'
  | 'cache'
  | 'clock'
  | 'command'
  | 'database'
  | 'derive'
  | 'identify'
  | 'ids'
  | 'limits'
  | 'random'
  | 'sealer'
  | 'settings'
  | 'streams'
  | 'systemCommand'
> & {
  readonly userDirectory: UserDirectory;
  readonly accounts: Accounts;
  readonly passwords: Passwords;
  readonly invitations: Join;
  readonly workspaces: Workspaces;
  readonly mailOutbox: MailOutbox;
  readonly codes: CodeRedemption;
  /** Keys derived for `otp/v1`. */
  readonly codeKeys: DerivedKeys;
  readonly accessTokens: AccessTokens;
  readonly loginSessions: LoginSessions;
  readonly toAscii: ToAscii;
  readonly secondFactors: SecondFactors;
  readonly passkeys: Passkeys;
  readonly applicationAccess: ApplicationAccess;
  readonly onward: FindOnward;
} & Pick<Parameters<typeof mfaTokens>[0], 'sign' | 'jwks' | 'latestJwks'>;

export function authenticationModule(given: Dependencies): {
  readonly module: Module;
  readonly hostedSignIn: HostedSignIn;
  /** Confirms the sign-in of a browser, for pages. */
  readonly confirmSignIn: ConfirmSignIn;
  readonly selfService: { readonly changePassword: ReturnType<typeof changePasswordRoute> };
} {
  const withTokens = { ...given, mfaTokens: mfaTokens(given) };
  const attempting = { ...withTokens, verifyPassword: verifyPassword(given) };
  const needs = {
    ...attempting,
    passwordAttempt: passwordAttempt(attempting),
    addressProofs: addressProofs(given),
    clearLockout: clearLockout(given),
    guessSecondFactor: guessSecondFactor(given),
    endAttempt: endAttempt(withTokens),
    socialProviders: socialProviders(given.clock),
    socialKeys: given.derive('JWT_SECRET', 'social/v1'),
    socialHandover: socialHandover(given),
  };
  const selfService = { changePassword: changePasswordRoute(needs) };
  const module: Module = {
    endpoints: [
      signUpRoute(needs),
      registerRoute(needs),
      acceptInvitationRoute(needs),
      acceptInvitationPageRoute(needs),
      verifyEmailRoute(needs),
      verifyEmailByLinkRoute(needs),
      logInRoute(needs),
      forgotPasswordRoute(needs),
      resetPasswordRoute(needs),
      resetPasswordPageRoute(needs),
      selfService.changePassword,
      unlockRoute(needs),
      sendLinkRoute(needs),
      verifyLinkRoute(needs),
      magicLinkPageRoute(needs),
      sendCodeRoute(needs),
      verifyCodeRoute(needs),
      challengeRoute(needs),
      verifySecondFactorRoute(needs),
      passkeySignInOptionsRoute(needs),
      passkeySignInRoute(needs),
      stepUpRoute(needs),
      authorizeSocialRoute(needs),
      socialCallbackRoute(needs),
      redeemSocialCodeRoute(needs),
    ],
    policies: [notifyBlocked(needs)],
    relay: authenticationRelay,
  };
  return {
    module,
    hostedSignIn: hostedSignIn(needs),
    selfService,
    confirmSignIn: (signIn, factor, command) => confirmSignIn(needs, signIn, factor, command),
  };
}

export type { PendingRegistration } from './hosted/hosted-registration.ts';
export type { HostedOutcome, HostedSignIn } from './hosted/hosted-sign-in.ts';
export {
  type ApplicationAccess,
  type ConfirmSignIn,
  STEP_UP_REFUSALS,
} from './step-up/step-up.route.ts';
export { isEnough } from './step-up/step-up.ts';

export const authenticationStreams = [
  signins,
  registrations,
  pendingSignIns,
  socialCodes,
  passkeyFailures,
];
