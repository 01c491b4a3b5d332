/** The URL fragment with which the browser returns to the application's page. Browsers send it to no server. */
import type { Command } from '@cardea/event-store';
import type { ServiceDependencies } from '@cardea/service';
import { drawLinkToken, onetimeIdOf } from '../../../adapters/link-token.ts';
import type { Due } from '../../attempts/end-attempt.ts';
import { issueSocialCode, socialCodes } from '../social-code.ts';
import type { PendingSocialSignIn } from '../social-cookie.ts';

type Dependencies = Pick<ServiceDependencies, 'random' | 'streams'>;
type SignedIn =
  | { readonly due: SecondFactorDueAnswer }
  | {
      readonly ok: {
        readonly access_token: string;
        readonly user_id: string;
        readonly is_new_user: boolean;
      };
      readonly sid: string;
      readonly command: Command;
    };
type SecondFactorDueAnswer = Pick<
  Due['answer'],
  'mfa_token' | 'mfa_methods' | 'mfa_enrollment_required'
>;

/** The address never contains a refresh token. A page that requested a code exchanges it for one. */
export async function fragmentOf(
  needs: Dependencies,
  answer: SignedIn,
  { tenantId, exchange = false }: PendingSocialSignIn,
): Promise<{ readonly [name: string]: string }> {
  if ('due' in answer) {
    const { mfa_token, mfa_methods, mfa_enrollment_required: isEnrolment } = answer.due;
    return {
      mfa_token,
      mfa_methods: mfa_methods.join(','),
      ...(isEnrolment ? { mfa_enrollment_required: 'true' } : {}),
    };
  }
  const { ok, sid, command } = answer;
  if (!exchange) return { token: ok.access_token };
  const code = drawLinkToken(tenantId, needs.random);
  await issued(needs, { code, sid, userId: ok.user_id, isNewUser: ok.is_new_user }, command);
  return { token: ok.access_token, code };
}

async function issued(
  { streams }: Dependencies,
  of: {
    readonly code: string;
    readonly sid: string;
    readonly userId: string;
    readonly isNewUser: boolean;
  },
  command: Command,
): Promise<void> {
  const id = onetimeIdOf('social', command.metadata.tenantId, of.code);
  await streams.decideOn(socialCodes, id, command, {
    isNew: true,
    decide: () => issueSocialCode(of, command.now),
  });
}
