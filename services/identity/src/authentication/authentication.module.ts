/** How people become known: by password, and by making an account. */

import type { Module, ServiceNeeds } from '@cardea/service';
import type {
  Accounts,
  AgentSessionRevocation,
  Passwords,
  ToAscii,
  UserDirectory,
} from '../accounts/accounts.module.ts';
import type { PostOffice } from '../mail/mail.module.ts';
import type { LoginSessions } from '../sessions/sessions.module.ts';
import type { Workspaces } from '../workspaces/workspaces.module.ts';
import { endAttempt } from './attempts/end-attempt.ts';
import { showPassword } from './attempts/show-password.ts';
import { signins } from './attempts/sign-in.ts';
import { authenticationRelay } from './authentication-relay.ts';
import { changePasswordRoute } from './passwords/change-password/change-password.route.ts';
import { forgotPasswordRoute } from './passwords/forgot-password/forgot-password.route.ts';
import { logInRoute } from './passwords/log-in/log-in.route.ts';
import {
  resetPasswordPageRoute,
  resetPasswordRoute,
} from './passwords/reset-password/reset-password.route.ts';
import { registerRoute } from './registrations/register/register.route.ts';
import { registrations } from './registrations/registration.ts';
import { signUpRoute } from './registrations/sign-up/sign-up.route.ts';

type Needs = Pick<
  ServiceNeeds,
  | 'clock'
  | 'command'
  | 'database'
  | 'identify'
  | 'ids'
  | 'limits'
  | 'revocations'
  | 'sealer'
  | 'settings'
  | 'streams'
> & {
  readonly userDirectory: UserDirectory;
  readonly accounts: Accounts;
  readonly passwords: Passwords;
  readonly workspaces: Workspaces;
  readonly postOffice: PostOffice;
  readonly loginSessions: LoginSessions;
  readonly revokeAgentSessions: Pick<AgentSessionRevocation, 'ofUser'>;
  readonly toAscii: ToAscii;
};

export function authenticationModule(given: Needs): Module {
  const needs = {
    ...given,
    showPassword: showPassword(given),
    endAttempt: endAttempt(given),
  };
  return {
    endpoints: [
      signUpRoute(needs),
      registerRoute(needs),
      logInRoute(needs),
      forgotPasswordRoute(needs),
      resetPasswordRoute(needs),
      resetPasswordPageRoute(),
      changePasswordRoute(needs),
    ],
    relay: authenticationRelay,
  };
}

export const authenticationStreams = [signins, registrations];
