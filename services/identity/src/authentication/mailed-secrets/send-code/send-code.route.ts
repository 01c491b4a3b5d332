/** Mails a code to sign in. No account is looked up, so the response reveals nothing. */
import { type Endpoint, endpoint } from '@cardea/http';
import { closed, PASSWORD_BODY_MAX_BYTES, sentFields } from '../../../http/answers.ts';
import { emailField } from '../../../http/input-fields.ts';
import { codeCookie } from '../code-cookie.ts';
import { type SendDependencies, send } from '../mailed-secret.ts';

export const sendCodeRoute = (needs: SendDependencies): Endpoint =>
  endpoint(
    {
      name: 'send_otp',
      summary: 'Ask for a mail with a code to sign in by',
      description:
        'Mails a code to sign in by, valid for 10 minutes. The answer is the same for an unknown address. A network may ask 3 times a minute and 10 times an hour for one address.',
      tag: 'Authentication',
      method: 'post',
      path: '/api/v1/auth/otp/send',
      who: 'anyone',
      repeat: 'never',
      body: closed({ email: emailField }),
      ok: closed(sentFields),
      refusals: {
        invalid_email: 400,
        otp_login_disabled: 403,
        tenant_not_found: 404,
        rate_limited: 429,
      },
      response: { isSecret: true },
      input: { limitBytes: PASSWORD_BODY_MAX_BYTES },
    },
    async (request) => {
      const answer = await send(needs, request, 'otp');
      if ('disabled' in answer) return { refused: 'otp_login_disabled' };
      return 'refused' in answer
        ? answer
        : { ...answer, headers: { 'Set-Cookie': codeCookie(answer.ok.challenge_id) } };
    },
  );
