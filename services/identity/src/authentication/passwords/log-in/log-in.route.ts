/**
 * Signs a user in with a password. The response does not reveal whether the address, the password or the account was
 * wrong.
 */
import { type Endpoint, endpoint } from '@cardea/http';
import Type from 'typebox';
import {
  closed,
  PASSWORD_BODY_MAX_BYTES,
  SecondFactorDue,
  SignedIn,
} from '../../../http/answers.ts';
import { emailField } from '../../../http/input-fields.ts';
import type { EndAttempt } from '../../attempts/end-attempt.ts';
import { type PasswordAttempt, refusalOfLogin } from './password-attempt.ts';

type Dependencies = {
  readonly passwordAttempt: PasswordAttempt;
  readonly endAttempt: Pick<EndAttempt, 'inSession'>;
};

const Body = closed({ email: emailField, password: Type.String() });

export const logInRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      name: 'log_in',
      repeat: 'never',
      summary: 'Sign in with e-mail and password',
      description:
        'Signs a user in with address and password. The answer has tokens, or `mfa_required` with a token for the second factor. Known and unknown addresses are answered alike. Ten failures with an address within 15 minutes block the network for a minute, then for longer.',
      tag: 'Authentication',
      method: 'post',
      path: '/api/v1/auth/login',
      who: 'anyone',
      body: Body,
      ok: Type.Union([SignedIn, SecondFactorDue]),
      refusals: {
        invalid_email: 400,
        invalid_credentials: 401,
        email_not_verified: 403,
        password_login_disabled: 403,
        tenant_not_found: 404,
        too_many_attempts: 429,
        rate_limited: 429,
      },
      response: { isSecret: true },
      consistency: { waitsFor: ['sessions', 'users'] },
      input: { limitBytes: PASSWORD_BODY_MAX_BYTES },
    },
    async (request) => {
      const tried = await needs.passwordAttempt(request, request.body);
      if ('refused' in tried) return tried;
      const { attempt, command, ...of } = tried;
      if (attempt.status === 'refused') return refusalOfLogin(attempt);
      const ended = await needs.endAttempt.inSession(attempt, { request, ...of }, command);
      if (ended.status === 'refused') return refusalOfLogin(ended);
      return ended.status === 'second_factor_due'
        ? { ok: ended.answer }
        : { ok: ended.signedIn, wrote: ended.wrote };
    },
  );
