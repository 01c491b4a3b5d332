/** Sends the confirmation mail once more; says so also when there is nothing left to confirm. */
import { asUser, type Endpoint, endpoint } from '@cardea/http';
import Type from 'typebox';
import { closed, USERS_ONLY } from '../../../http/answers.ts';
import { type Identity, tooOften } from '../../../identity.ts';
import { mailLimit } from '../../../mail/mail-limit.ts';
import { exists } from '../user.ts';

const SENT = { status: 'verification email sent' } as const;

export const resendVerificationRoute = (identity: Identity): Endpoint =>
  endpoint(
    {
      name: 'resend_verification',
      summary: 'Send the confirmation mail again',
      tag: 'Authentication',
      method: 'post',
      path: '/api/v1/auth/resend-verification',
      who: ['user'],
      tenant: 'optional',
      area: 'user',
      bodyOptional: true,
      ok: closed({ status: Type.Literal('verification email sent') }),
      refusals: { rate_limited: 429 },
      notTaken: USERS_ONLY,
    },
    async (request) => {
      const { id, tenantId } = asUser(request.principal);
      const user = await identity.people.byId(tenantId, id);
      if (!exists(user) || user.emailVerified) return { ok: SENT };
      const { emailHash } = user;
      const limited = await mailLimit(identity.limits, { tenantId, emailHash, ip: request.ip });
      if (limited !== undefined) return tooOften(limited);
      const { email } = await identity.people.open(user);
      if (email === null) return { ok: SENT };
      const command = await identity.command(request);
      const mail = { purpose: 'verify', email, emailHash, userId: id } as const;
      return { ok: SENT, wrote: await identity.postOffice.request(mail, command) };
    },
  );
