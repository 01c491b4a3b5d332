/**
 * Confirms an address by the mailed token. A GET confirms it like a POST; a browser that navigates here gets a page
 * with a button, which does not consume the token.
 */
import type { Command } from '@cardea/event-store';
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import { acceptsPage } from '@cardea/pages';
import { uuidFrom } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import {
  type ExistingUser,
  exists,
  standsFor,
  type UserDirectory,
} from '../../../accounts/accounts.module.ts';
import { tenantOfToken } from '../../../adapters/link-token.ts';
import { closed, PASSWORD_BODY_MAX_BYTES } from '../../../http/answers.ts';
import { countingRefusals } from '../../../http/counting-refusals.ts';
import { LIMITS } from '../../../http/limits.ts';
import type { MailOutbox } from '../../../mail/mail.module.ts';
import {
  type LinkPageDependencies,
  LinkQuery,
  linkAnswer,
  pastedToken,
  showLinkPage,
} from '../../../pages/link-page.ts';
import type { TenantFacts, Workspaces } from '../../../workspaces/workspaces.module.ts';
import type { AddressProofs } from '../../attempts/address-proofs.ts';
import { confirming } from '../../attempts/attempt.ts';
import { wrongCredential } from '../../attempts/end-attempt.ts';
import type { VerifyPassword } from '../../attempts/verify-password.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'command' | 'limits'> &
  Pick<LinkPageDependencies, 'onward'> & {
    readonly addressProofs: AddressProofs;
    readonly verifyPassword: VerifyPassword;
    readonly workspaces: Pick<Workspaces, 'tenant'>;
    readonly mailOutbox: Pick<MailOutbox, 'peek' | 'redeem' | 'request'>;
    readonly userDirectory: Pick<UserDirectory, 'byId' | 'emailOf'>;
  };

const Ok = closed({ status: Type.Literal('email verified') });
const REFUSALS = {
  invalid_credentials: 401,
  invalid_verification_token: 422,
  too_many_attempts: 429,
  rate_limited: 429,
} as const;
const PATH = '/api/v1/auth/verify-email';
const COMMON = {
  summary: 'Confirm an e-mail address',
  tag: 'Authentication',
  path: PATH,
  who: 'anyone',
  tenant: 'optional',
  ok: Ok,
  refusals: REFUSALS,
  consistency: { waitsFor: ['users'] },
  response: { isSecret: true },
} as const;

export const verifyEmailRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'verify_email',
      description:
        "Confirms an address by the secret of a mailed link. The first proof of an address ends what was prepared with the account before, unless the call carries the account's password or a token of its user.",
      repeat: 'never',
      method: 'post',
      input: { takesForm: true, limitBytes: PASSWORD_BODY_MAX_BYTES },
      response: { orPage: true, isSecret: true },
      /**
       * With the password, or a session of the account, the person proves that they registered it, so nothing is
       * reclaimed.
       */
      body: closed({ token: Type.String(), password: Type.Optional(Type.String()) }),
    },
    async (request) => {
      const token = pastedToken(request.body.token);
      const of = { kind: 'verify', request, refusals: REFUSALS, action: PATH, token } as const;
      const tenantId = tenantOfToken(token) ?? '';
      // The form sends an empty field if no password was typed.
      const { password = '' } = request.body;
      const shown = { token, password: password === '' ? undefined : password };
      return linkAnswer(needs, { ...of, tenantId }, await verified(needs, request, shown));
    },
  );

export const verifyEmailByLinkRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'verify_email_by_link',
      description:
        'Confirms an address as the POST does. A browser that opens the link gets a page with a button instead and uses nothing up, because mail scanners open links, too.',
      method: 'get',
      response: { orPage: true, isSecret: true },
      query: LinkQuery,
    },
    async (request) =>
      request.isHead !== true && mayConsume(request.headers)
        ? verified(needs, request, { token: request.query.token ?? '' })
        : showLinkPage(needs, 'verify', request, PATH),
  );

type Headers = { readonly [name: string]: string | undefined };

/**
 * False for a navigation, which browsers name by `Sec-Fetch-Mode`, and for a prefetch. Browsers without that header
 * ask for `text/html` when they navigate, and for anything when a script calls `fetch()`.
 */
export function mayConsume(headers: Headers): boolean {
  const purpose = `${headers['sec-purpose'] ?? ''} ${headers['purpose'] ?? ''}`;
  if (/prefetch|prerender/i.test(purpose)) return false;
  const mode = headers['sec-fetch-mode'];
  return mode === undefined ? !acceptsPage(headers['accept']) : mode !== 'navigate';
}

type AnyRequest = Request<unknown, unknown, unknown>;

async function verified(
  needs: Dependencies,
  request: AnyRequest,
  shown: { readonly token: string; readonly password?: string | undefined },
) {
  const misses = [[LIMITS.secretFailuresByIp, request.ip]] as const;
  return await countingRefusals(needs.limits, misses, async () => {
    const tenantId = tenantOfToken(shown.token) ?? '';
    const tenant = await needs.workspaces.tenant(tenantId);
    const named = request.tenantId === '' || request.tenantId === tenantId;
    return tenant !== undefined && named ? used(needs, request, { ...shown, tenant }) : INVALID;
  });
}

const INVALID = { refused: 'invalid_verification_token' } as const;

async function used(
  needs: Dependencies,
  request: AnyRequest,
  of: {
    readonly token: string;
    readonly password?: string | undefined;
    readonly tenant: TenantFacts;
  },
) {
  const { mailOutbox, userDirectory } = needs;
  const { token, password, tenant } = of;
  const tenantId = tenant.id;
  const peeked = await mailOutbox.peek('verify', token, { tenantId, now: needs.clock.now() });
  if ('fault' in peeked) return { ...INVALID, linkFault: peeked.fault };
  const { userId, basis } = peeked;
  const user = await userDirectory.byId(tenantId, userId);
  if (!exists(user) || !standsFor(user, basis)) return INVALID;
  const actor = { type: 'user', id: userId } as const;
  const command = await needs.command(request, { tenantId, actor });
  // A mistyped password does not consume the token.
  const wrong =
    password === undefined
      ? undefined
      : await wrongPassword(needs, { user, password, ip: request.ip }, command);
  if (wrong !== undefined) return wrong;
  const redeemed = await mailOutbox.redeem('verify', token, command);
  if ('fault' in redeemed) return { ...INVALID, linkFault: redeemed.fault };
  const knowsPassword = password !== undefined;
  const proven = await needs.addressProofs.record({ user, basis, request, knowsPassword }, command);
  if (proven === undefined) return INVALID;
  const mailed = proven.isReclaimed ? await mailReset(needs, proven.user, command) : undefined;
  return { ok: { status: 'email verified' as const }, wrote: mailed ?? proven.position };
}

async function wrongPassword(
  { verifyPassword }: Dependencies,
  of: { readonly user: ExistingUser; readonly password: string; readonly ip: string },
  command: Command,
) {
  const { user, password, ip } = of;
  const shown = { emailHash: user.emailHash, password, method: 'verify_email', ip };
  const own = { ...command, id: uuidFrom(command.id, 'attempt') };
  const { attempt } = await verifyPassword(confirming(user), shown, own);
  return attempt.status === 'refused' ? wrongCredential(attempt) : undefined;
}

/** Mails a reset link. The registration's password was removed, so the holder of the address has to choose one. */
async function mailReset(
  { mailOutbox, userDirectory }: Dependencies,
  user: ExistingUser,
  command: Command,
): Promise<bigint | undefined> {
  const email = await userDirectory.emailOf(user);
  if (email === null) return undefined;
  const own = { ...command, id: uuidFrom(command.id, 'choose a password') };
  const { emailHash, id: userId } = user;
  return mailOutbox.request({ purpose: 'reset', email, emailHash, userId }, own);
}
