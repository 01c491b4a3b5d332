/**
 * Verifies the second factor of a pending sign-in, or enrols the required one. The sign-in then ends as its first
 * factor determines.
 */
import { type Endpoint, endpoint } from '@cardea/http';
import Type from 'typebox';
import {
  closed,
  credentialField,
  PASSWORD_BODY_MAX_BYTES,
  SecondFactorMethod,
  SignedInWithSecondFactor,
} from '../../../http/answers.ts';
import type { EndAttempt } from '../../attempts/end-attempt.ts';
import { secondFactorChallenge } from '../challenge-second.ts';
import { type SecondFactorDependencies, secondFactorShown } from '../show-second.ts';
import { INVALID_TOKEN } from './verify.ts';

type Dependencies = SecondFactorDependencies & {
  readonly endAttempt: Pick<EndAttempt, 'asBegun'>;
};

const COMMON = {
  tag: 'Authentication',
  method: 'post',
  who: 'anyone',
  tenant: 'optional',
  repeat: 'never',
  response: { isSecret: true },
  input: { limitBytes: PASSWORD_BODY_MAX_BYTES },
} as const;

export const challengeRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'challenge_second_factor',
      summary: 'Prepare the second factor of a sign-in',
      description:
        'Prepares the second factor of a sign-in: options for a passkey, or a secret where an authenticator app has to be enrolled. A sign-in may ask 20 times.',
      path: '/api/v1/auth/mfa/challenge',
      body: closed({ mfa_token: Type.String(), method: SecondFactorMethod }),
      ok: closed({
        challenge_id: Type.String(),
        options: Type.Optional(Type.Object({}, { additionalProperties: true })),
      }),
      refusals: {
        invalid_mfa_token: 401,
        mfa_token_expired: 410,
        too_many_attempts: 429,
        rate_limited: 429,
      },
    },
    (request) => secondFactorChallenge(needs, request),
  );

const Verify = closed({
  mfa_token: Type.String(),
  method: SecondFactorMethod,
  code: Type.Optional(Type.String({ maxLength: 64 })),
  challenge_id: Type.Optional(Type.String({ maxLength: 128 })),
  response: Type.Optional(credentialField),
});

export const verifySecondFactorRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'verify_second_factor',
      summary: 'Show the second factor of a sign-in',
      description:
        'Shows the second factor and answers what the first one would have: tokens, or an access token alone. Five wrong codes end the sign-in.',
      path: '/api/v1/auth/mfa/verify',
      body: Verify,
      ok: SignedInWithSecondFactor,
      refusals: {
        invalid_mfa_token: 401,
        invalid_code: 401,
        mfa_token_expired: 410,
        enrolment_expired: 410,
        too_many_attempts: 429,
        rate_limited: 429,
      },
      consistency: { waitsFor: ['sessions', 'users'] },
    },
    async (request) => {
      const shown = await secondFactorShown(needs, request);
      if ('refused' in shown) return shown;
      const { attempt, command, recoveryCodes, ...of } = shown;
      const ended = await needs.endAttempt.asBegun(attempt, { request, ...of }, command);
      if (ended.status === 'refused') return INVALID_TOKEN;
      const codes = recoveryCodes === undefined ? {} : { recovery_codes: [...recoveryCodes] };
      return { ok: { ...ended.signedIn, ...codes }, wrote: ended.wrote };
    },
  );
