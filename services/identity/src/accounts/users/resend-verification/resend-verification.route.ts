/** Sends the confirmation mail again; answers the same if there is nothing left to confirm. */
import { endpoint } from '@cardea/http';
import { languageOf } from '@cardea/pages';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { closed, tooOften } from '../../../http/answers.ts';
import { type MailOutbox, mailLimit } from '../../../mail/mail.module.ts';
import type { UserDirectory } from '../../user-directory.ts';
import { isVerificationDue } from './resend-verification.ts';

type Dependencies = Pick<ServiceDependencies, 'command' | 'limits' | 'sealer' | 'streams'> & {
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'open'>;
  readonly mailOutbox: Pick<MailOutbox, 'request'>;
};

const SENT = { status: 'verification email sent' } as const;

export const resendVerificationRoute = (needs: Dependencies) =>
  endpoint(
    {
      name: 'resend_verification',
      access: { class: 'things', applicationScope: 'account' },
      repeat: 'never',
      summary: 'Send the confirmation mail again',
      description:
        "Mails the link that confirms the caller's address once more. It does nothing for an address that is verified.",
      tag: 'Authentication',
      method: 'post',
      path: '/api/v1/auth/resend-verification',
      who: ['user'],
      tenant: 'optional',
      input: { isOptional: true },
      ok: closed({ status: Type.Literal('verification email sent') }),
      refusals: { rate_limited: 429 },
    },
    async (request) => {
      const { id, tenantId } = request.principal;
      const user = await needs.userDirectory.byId(tenantId, id);
      if (!isVerificationDue(user)) return { ok: SENT };
      const { emailHash } = user;
      const limited = await mailLimit(needs, {
        tenantId,
        emailHash,
        ip: request.ip,
        by: 'session',
      });
      if (limited !== undefined) return tooOften(limited);
      const { email } = await needs.userDirectory.open(user);
      if (email === null) return { ok: SENT };
      const command = await needs.command(request);
      const language = languageOf(request.headers);
      const asker = 'session';
      const mail = { purpose: 'verify', email, emailHash, userId: id, language, asker } as const;
      return { ok: SENT, wrote: await needs.mailOutbox.request(mail, command) };
    },
  );
