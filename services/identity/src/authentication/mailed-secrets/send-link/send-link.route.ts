/** Mails a link to sign in. No account is looked up, so the response reveals nothing. */
import { type Endpoint, endpoint } from '@cardea/http';
import { closed, PASSWORD_BODY_MAX_BYTES, sentFields } from '../../../http/answers.ts';
import { emailField } from '../../../http/input-fields.ts';
import { type SendDependencies, send } from '../mailed-secret.ts';

export const sendLinkRoute = (needs: SendDependencies): Endpoint =>
  endpoint(
    {
      name: 'send_magic_link',
      summary: 'Ask for a mail with a link to sign in by',
      description:
        'Mails a link to sign in by, valid for 15 minutes. The answer is the same for an unknown address. A network may ask 3 times a minute and 10 times an hour for one address.',
      tag: 'Authentication',
      method: 'post',
      path: '/api/v1/auth/magic-link',
      who: 'anyone',
      repeat: 'never',
      body: closed({ email: emailField }),
      ok: closed(sentFields),
      refusals: {
        invalid_email: 400,
        magic_link_login_disabled: 403,
        tenant_not_found: 404,
        rate_limited: 429,
      },
      input: { limitBytes: PASSWORD_BODY_MAX_BYTES },
    },
    async (request) => {
      const answer = await send(needs, request, 'magic_link');
      return 'disabled' in answer ? { refused: 'magic_link_login_disabled' } : answer;
    },
  );
