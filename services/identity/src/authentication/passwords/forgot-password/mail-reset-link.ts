/** Mails a link to set a new password. No account is looked up, so the response reveals nothing. */
import type { Request } from '@cardea/http';
import type { Language } from '@cardea/mail';
import { emailAddress } from '../../../accounts/accounts.module.ts';
import type { tooOften } from '../../../http/answers.ts';
import { type MailDependencies, requestMail } from '../../mailed-secrets/mailed-secret.ts';

type Mailed =
  | { readonly wrote: bigint | undefined }
  | { readonly refused: 'invalid_email' | 'tenant_not_found' }
  | ReturnType<typeof tooOften>;

export async function mailResetLink(
  needs: MailDependencies,
  request: Request<unknown, unknown, unknown>,
  of: {
    readonly email: string;
    /** The language of the mail, if the requester has chosen one. */
    readonly language: Language | undefined;
  },
): Promise<Mailed> {
  const email = emailAddress(of.email, needs.toAscii);
  if (email === undefined) return { refused: 'invalid_email' };
  const tenant = await needs.workspaces.tenant(request.tenantId);
  if (tenant === undefined) return { refused: 'tenant_not_found' };
  const { language } = of;
  return requestMail(needs, request, tenant.id, { purpose: 'reset', email, language });
}
