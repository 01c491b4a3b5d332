/** An administrator mails a user a link to set a new password. The old password works until the link is used. */

import { type Endpoint, endpoint } from '@cardea/http';
import { languageOf } from '@cardea/pages';
import { newId, type ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { closed, tooOften } from '../../../http/answers.ts';
import { type MailOutbox, mailLimit } from '../../../mail/mail.module.ts';
import { administratorOf } from '../../../ranks/ranks.ts';
import type { InvitePerson } from '../../invitations/inviting.ts';
import type { UserDirectory } from '../../user-directory.ts';
import { mailReset } from './mail-reset.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'command' | 'ids' | 'limits' | 'sealer' | 'streams'
> & {
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'emailOf'>;
  readonly mailOutbox: Pick<MailOutbox, 'request'>;
  readonly invitePerson: InvitePerson;
};

export const mailResetRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      tag: 'Administration',
      name: 'reset_user_password',
      machine: 'users:write',
      access: { class: 'settings', stepUp: 'none' },
      repeat: 'never',
      summary: 'Mail a user a link to set a new password, or to accept their invitation',
      description:
        'Mails the user a link to a new password, or the invitation again to a user who has not accepted it. The password of before goes on until the link is used.',
      method: 'post',
      path: '/api/v1/admin/users/{id}/reset-password',
      who: ['admin', 'api_key:users:write'],
      params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) }),
      body: closed({}),
      input: { isOptional: true },
      ok: closed({ status: Type.Literal('mail requested') }),
      refusals: { forbidden: 403, not_found: 404, user_inactive: 409, rate_limited: 429 },
      consistency: { waitsFor: ['invitations'] },
    },
    async (request) => {
      const { tenantId, params, principal } = request;
      const by = administratorOf(principal);
      const reset = mailReset(by, await needs.userDirectory.byId(tenantId, params.id));
      if ('refused' in reset) return reset;
      const { id: userId, emailHash, roles } = reset.to;
      const email = await needs.userDirectory.emailOf(reset.to);
      if (email === null) return { refused: 'not_found' };
      const limited = await mailLimit(needs, {
        tenantId,
        emailHash,
        ip: request.ip,
        by: 'administrator',
      });
      if (limited !== undefined) return tooOften(limited);
      const command = await needs.command(request);
      const ok = { status: 'mail requested' as const };
      const language = languageOf(request.headers);
      if (reset.mail === 'reset') {
        const asker = 'administrator';
        const mail = { purpose: 'reset', email, emailHash, userId, language, asker } as const;
        return { ok, wrote: await needs.mailOutbox.request(mail, command) };
      }
      const id = newId(needs, request, 'invitation');
      const made = await needs.invitePerson(
        {
          id,
          userId,
          email,
          emailHash,
          roles,
          language,
          by,
          invitedBy: null,
          requestHash: null,
        },
        command,
      );
      if ('forbidden' in made) return { refused: 'forbidden' };
      return 'erased' in made ? { refused: 'not_found' } : { ok, wrote: made.position };
    },
  );
