/** Requests a mail with a link to set a new password. */
import { type Endpoint, endpoint } from '@cardea/http';
import { languageOf } from '@cardea/pages';
import { closed, message, PASSWORD_BODY_MAX_BYTES } from '../../../http/answers.ts';
import { emailField } from '../../../http/input-fields.ts';
import type { MailDependencies } from '../../mailed-secrets/mailed-secret.ts';
import { mailResetLink } from './mail-reset-link.ts';

const SENT = 'if the address has an account, a mail is on its way';

export const forgotPasswordRoute = (needs: MailDependencies): Endpoint =>
  endpoint(
    {
      name: 'forgot_password',
      repeat: 'never',
      summary: 'Ask for a mail to set a new password',
      description:
        'Mails a link to a new password, valid for an hour, to the address if somebody has it. The answer is the same for an unknown one. A network may ask 3 times a minute and 10 times an hour for one address.',
      tag: 'Authentication',
      method: 'post',
      path: '/api/v1/auth/forgot-password',
      who: 'anyone',
      body: closed({ email: emailField }),
      ok: message,
      refusals: { invalid_email: 400, tenant_not_found: 404, rate_limited: 429 },
      input: { limitBytes: PASSWORD_BODY_MAX_BYTES },
    },
    async (request) => {
      const language = languageOf(request.headers);
      const mailed = await mailResetLink(needs, request, { email: request.body.email, language });
      return 'refused' in mailed ? mailed : { ok: { message: SENT }, wrote: mailed.wrote };
    },
  );
