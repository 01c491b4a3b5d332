/** Ends an attempt: in a session, in an access token alone, or in a refusal. Nothing else starts a session. */
import type { Command } from '@cardea/event-store';
import type { Request } from '@cardea/http';
import { metrics } from '@cardea/runtime';
import { newId, type ServiceNeeds } from '@cardea/service';
import { tooManyAttempts, tooOften } from '../../http/answers.ts';

import type { LoginSessions, Tokens } from '../../sessions/sessions.module.ts';
import type { TenantFacts } from '../../workspaces/workspaces.module.ts';
import { type Attempt, conclude, isObjection, type Refused, refuse } from './attempt.ts';

type Needs = Pick<ServiceNeeds, 'ids'> & {
  readonly loginSessions: Pick<LoginSessions, 'start'>;
};

export type Ending = {
  readonly request: Request<unknown, unknown, unknown>;
  readonly tenant: TenantFacts;
  /** A moment before the user was read. */
  readonly readAt: Date;
};

export type Ended =
  | Refused
  | {
      readonly status: 'session';
      /** As every answer of a sign-in shows it. */
      readonly signedIn: Tokens & {
        readonly user_id: string;
        readonly email_verified: boolean;
        readonly mfa_required: boolean;
      };
      readonly wrote: bigint | undefined;
    };

export type EndAttempt = (attempt: Attempt, of: Ending, command: Command) => Promise<Ended>;

export const endAttempt =
  (needs: Needs): EndAttempt =>
  async (attempt, of, command) => {
    if (attempt.status === 'refused') return attempt;
    const { ends, user, mfaRequired, ...how } = conclude(attempt);
    if (ends !== 'session') throw new Error('no verb can meet a further factor');
    const { request, tenant, readAt } = of;
    const started = await needs.loginSessions.start(
      {
        sid: newId(needs, request, 'session'),
        user,
        readAt,
        tenant,
        ...how,
        ip: request.ip,
        userAgent: request.userAgent,
        appId: request.appId ?? null,
      },
      command,
    );
    if (started === 'erased') return refuse('erased');
    const signedIn = {
      user_id: user.id,
      ...started.tokens,
      email_verified: user.emailVerified,
      mfa_required: mfaRequired,
    };
    return { status: 'session', signedIn, wrote: started.position };
  };

/** How a wrong credential is answered, whatever else there is to say of the account. */
export function wrongCredential({ reason, retryAfterSeconds = 0 }: Refused) {
  if (reason === 'limited') return tooOften({ retryAfterSeconds });
  if (reason === 'blocked') return tooManyAttempts({ retryAfterSeconds });
  return { refused: 'invalid_credentials' } as const;
}

/** As a login answers: what stands against it is told to whoever had the right credential. */
export const refusalOfLogin = (refused: Refused) =>
  isObjection(refused.reason) ? { refused: refused.reason } : wrongCredential(refused);

/** Counts what came of a sign-in. */
export function countSignIn(attempt: Attempt): void {
  metrics.logins.inc({ outcome: attempt.status === 'open' ? 'right' : OUTCOMES[attempt.reason] });
}

const OUTCOMES: { readonly [reason in Refused['reason']]: string } = {
  invalid_credentials: 'wrong',
  disabled: 'wrong',
  erased: 'wrong',
  email_not_verified: 'objection',
  password_login_disabled: 'objection',
  blocked: 'blocked',
  limited: 'limited',
};
