/** Asks for a mail to set a new password. Nobody is looked up, so the answer can tell nothing. */
import { type Endpoint, endpoint } from '@cardea/http';
import Type from 'typebox';
import { emailAddress } from '../../../accounts/email-address.ts';
import { closed, message, PASSWORD_BODY_MAX_BYTES } from '../../../http/answers.ts';
import { type Identity, tooOften } from '../../../identity.ts';
import { mailLimit } from '../../../mail/mail-limit.ts';

const SENT = 'if the address has an account, a mail is on its way';

export const forgotPasswordRoute = (identity: Identity): Endpoint =>
  endpoint(
    {
      name: 'forgot_password',
      summary: 'Ask for a mail to set a new password',
      tag: 'Authentication',
      method: 'post',
      path: '/api/v1/auth/forgot-password',
      who: 'anyone',
      tenant: 'required',
      area: 'user',
      body: closed({ email: Type.String() }),
      ok: message,
      refusals: { invalid_email: 400, tenant_not_found: 404, rate_limited: 429 },
      bodyLimitBytes: PASSWORD_BODY_MAX_BYTES,
    },
    async (request) => {
      const email = emailAddress(request.body.email, identity.toAscii);
      if (email === undefined) return { refused: 'invalid_email' };
      const tenant = await identity.workspaces.tenant(request.tenantId);
      if (tenant === undefined) return { refused: 'tenant_not_found' };
      const emailHash = await identity.people.hashOf(tenant.id, email);
      const limited = await mailLimit(identity.limits, {
        tenantId: tenant.id,
        emailHash,
        ip: request.ip,
      });
      if (limited !== undefined) return tooOften(limited);
      const command = await identity.command(request, { tenantId: tenant.id });
      const mail = { purpose: 'reset', email, emailHash, userId: null } as const;
      const wrote = await identity.postOffice.request(mail, command);
      return { ok: { message: SENT }, wrote };
    },
  );
