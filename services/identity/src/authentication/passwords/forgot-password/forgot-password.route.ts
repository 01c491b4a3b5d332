/** Asks for a mail to set a new password. Nobody is looked up, so the answer can tell nothing. */
import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import {
  emailAddress,
  type ToAscii,
  type UserDirectory,
} from '../../../accounts/accounts.module.ts';
import { closed, message, PASSWORD_BODY_MAX_BYTES, tooOften } from '../../../http/answers.ts';
import { emailField } from '../../../http/input-fields.ts';
import { type MailOutbox, mailLimit } from '../../../mail/mail.module.ts';
import { languageOf } from '../../../pages/texts.ts';
import type { Workspaces } from '../../../workspaces/workspaces.module.ts';

type Dependencies = Pick<ServiceDependencies, 'command' | 'limits'> & {
  readonly userDirectory: Pick<UserDirectory, 'hashOf'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly mailOutbox: Pick<MailOutbox, 'request'>;
  readonly toAscii: ToAscii;
};

const SENT = 'if the address has an account, a mail is on its way';

export const forgotPasswordRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      name: 'forgot_password',
      retry: 'never',
      summary: 'Ask for a mail to set a new password',
      tag: 'Authentication',
      method: 'post',
      path: '/api/v1/auth/forgot-password',
      who: 'anyone',
      tenant: 'required',
      area: 'user',
      body: closed({ email: emailField }),
      ok: message,
      refusals: { invalid_email: 400, tenant_not_found: 404, rate_limited: 429 },
      bodyLimitBytes: PASSWORD_BODY_MAX_BYTES,
    },
    async (request) => {
      const email = emailAddress(request.body.email, needs.toAscii);
      if (email === undefined) return { refused: 'invalid_email' };
      const tenant = await needs.workspaces.tenant(request.tenantId);
      if (tenant === undefined) return { refused: 'tenant_not_found' };
      const emailHash = await needs.userDirectory.hashOf(tenant.id, email);
      const limited = await mailLimit(needs.limits, {
        tenantId: tenant.id,
        emailHash,
        ip: request.ip,
      });
      if (limited !== undefined) return tooOften(limited);
      const command = await needs.command(request, { tenantId: tenant.id });
      const language = languageOf(request.headers);
      const mail = { purpose: 'reset', email, emailHash, userId: null, language } as const;
      const wrote = await needs.mailOutbox.request(mail, command);
      return { ok: { message: SENT }, wrote };
    },
  );
