/**
 * Confirms an address by the mailed token. A program may GET it; a browser or a scanner that follows the
 * link gets a page with a button, which does not consume the token.
 */
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { tenantOfToken } from '../../../adapters/link-token.ts';
import { closed, PASSWORD_BODY_MAX_BYTES, tooOften } from '../../../http/answers.ts';
import { LIMITS } from '../../../http/limits.ts';
import type { MailOutbox } from '../../../mail/mail.module.ts';
import { LinkQuery, linkAnswer, pastedToken, showLinkPage } from '../../../pages/link-page.ts';
import type { Workspaces } from '../../../workspaces/workspaces.module.ts';
import { users } from '../user.ts';
import { verifyEmail } from './verify-email.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'command' | 'limits' | 'streams'> & {
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly mailOutbox: Pick<MailOutbox, 'peek' | 'redeem'>;
};

const Ok = closed({ status: Type.Literal('email verified') });
const REFUSALS = { invalid_verification_token: 422, rate_limited: 429 } as const;
const PATH = '/api/v1/auth/verify-email';
const COMMON = {
  summary: 'Confirm an e-mail address',
  tag: 'Authentication',
  path: PATH,
  who: 'anyone',
  tenant: 'optional',
  area: 'user',
  ok: Ok,
  refusals: REFUSALS,
  waitsFor: ['users'],
  noStore: true,
} as const;

export const verifyEmailRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'verify_email',
      retry: 'never',
      method: 'post',
      takesForm: true,
      showsPages: true,
      body: closed({ token: Type.String() }),
      bodyLimitBytes: PASSWORD_BODY_MAX_BYTES,
    },
    async (request) => {
      const token = pastedToken(request.body.token);
      const of = { kind: 'verify', request, refusals: REFUSALS, action: PATH, token } as const;
      const tenantId = tenantOfToken(token) ?? '';
      return linkAnswer(needs, { ...of, tenantId }, await verified(needs, request, token));
    },
  );

export const verifyEmailByLinkRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'verify_email_by_link',
      clientName: 'open_verification_link',
      method: 'get',
      showsPages: true,
      query: LinkQuery,
    },
    async (request) =>
      request.isHead !== true && mayConsume(request.headers)
        ? verified(needs, request, request.query.token ?? '')
        : showLinkPage(needs, 'verify', request, PATH),
  );

type Headers = { readonly [name: string]: string | undefined };

/** True for a program that wants the effect; false for a browser, a link scanner or a prefetch. */
export function mayConsume(headers: Headers): boolean {
  const purpose = `${headers['sec-purpose'] ?? ''} ${headers['purpose'] ?? ''}`;
  if (/prefetch|prerender/i.test(purpose)) return false;
  const accept = headers['accept'] ?? '';
  if (/text\/html/i.test(accept)) return false;
  const isBrowser = /^mozilla\//i.test(headers['user-agent'] ?? '');
  return !isBrowser || /application\/json/i.test(accept);
}

type AnyRequest = Request<unknown, unknown, unknown>;

async function verified(needs: Dependencies, request: AnyRequest, token: string) {
  const byIp = await needs.limits.look(LIMITS.secretFailuresByIp, request.ip);
  if (!byIp.allowed) return tooOften(byIp);
  const tenantId = tenantOfToken(token) ?? '';
  const tenant = await needs.workspaces.tenant(tenantId);
  const named = request.tenantId === '' || request.tenantId === tenantId;
  const answer = tenant !== undefined && named ? await used(needs, request, token) : INVALID;
  if ('refused' in answer) await needs.limits.take(LIMITS.secretFailuresByIp, request.ip);
  return answer;
}

const INVALID = { refused: 'invalid_verification_token' } as const;

async function used(
  needs: Pick<Dependencies, 'clock' | 'command' | 'mailOutbox' | 'streams'>,
  request: AnyRequest,
  token: string,
) {
  const tenantId = tenantOfToken(token) ?? '';
  const { mailOutbox, streams, clock } = needs;
  const peeked = await mailOutbox.peek('verify', token, { tenantId, now: clock.now() });
  if ('fault' in peeked) return INVALID;
  const command = await needs.command(request, {
    tenantId,
    actor: { type: 'user', id: peeked.userId },
  });
  const redeemed = await mailOutbox.redeem('verify', token, command);
  if ('fault' in redeemed) return INVALID;
  const decided = await streams.decideOn(users, redeemed.userId, command, (user) =>
    verifyEmail(command.now, user),
  );
  if (!decided.accepted) return INVALID;
  return { ok: { status: 'email verified' as const }, wrote: decided.position };
}
