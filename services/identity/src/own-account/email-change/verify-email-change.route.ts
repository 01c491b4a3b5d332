/**
 * Confirms one address of a change: by the mailed link, in any browser, or by the mailed code and the person's own
 * token. The last confirmation changes the address.
 */
import type { Authenticator, UserPrincipal } from '@cardea/auth';
import { named } from '@cardea/contracts';
import type { Command } from '@cardea/event-store';
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import { uuidFrom } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import {
  type EmailChanges,
  exists,
  pendingEmailChange,
  proveEmailChange,
  standsFor,
  type UserDirectory,
  users,
} from '../../accounts/accounts.module.ts';
import { tenantOfToken } from '../../adapters/link-token.ts';
import { badField, closed, PASSWORD_BODY_MAX_BYTES } from '../../http/answers.ts';
import { countingRefusals } from '../../http/counting-refusals.ts';
import { LIMITS } from '../../http/limits.ts';
import type { CodeRedemption, MailOutbox } from '../../mail/mail.module.ts';
import {
  type LinkPageDependencies,
  LinkQuery,
  linkAnswer,
  pastedToken,
  showLinkPage,
} from '../../pages/link-page.ts';
import type { Basis } from '../../streams/basis.ts';
import type { Workspaces } from '../../workspaces/workspaces.module.ts';

export type VerifyDependencies = Pick<
  ServiceDependencies,
  'clock' | 'command' | 'limits' | 'streams'
> &
  Pick<LinkPageDependencies, 'onward'> & {
    readonly authenticator: Pick<Authenticator, 'authenticate' | 'confirm'>;
    readonly codes: Pick<CodeRedemption, 'find' | 'redeem'>;
    readonly emailChanges: Pick<EmailChanges, 'complete'>;
    readonly mailOutbox: Pick<MailOutbox, 'peek' | 'redeem'>;
    readonly userDirectory: Pick<UserDirectory, 'byId'>;
    readonly workspaces: Pick<Workspaces, 'tenant'>;
  };

const PATH = '/api/v1/auth/email-change/verify';
const Code = Type.String({ maxLength: 64 });
const Body = closed({ token: Type.Optional(Type.String()), code: Type.Optional(Code) });
const Ok = closed({
  status: named('EmailChangeStatus', Type.Enum(['proof kept', 'email changed'])),
});
const REFUSALS = {
  invalid_request: 400,
  invalid_code: 401,
  invalid_link: 401,
  email_already_exists: 409,
  code_expired: 410,
  link_expired: 410,
  rate_limited: 429,
} as const;
const CODE_REFUSALS = {
  invalid_code: 401,
  email_already_exists: 409,
  code_expired: 410,
  rate_limited: 429,
} as const;
const WAITS_FOR = ['users', 'sessions', 'revocations'] as const;

export const verifyRoutes = (deps: VerifyDependencies): readonly Endpoint[] => [
  verifyEmailChangeRoute(deps),
  emailChangePageRoute(deps),
];

const verifyEmailChangeRoute = (deps: VerifyDependencies): Endpoint =>
  endpoint(
    {
      name: 'verify_email_change',
      summary: 'Confirm a change of an e-mail address',
      description:
        "Confirms one side of a change of an address by the secret of a mailed link, in any browser, or by the mailed code together with the person's own access token. Each works once. With the last side the address changes: `email changed`.",
      tag: 'Authentication',
      method: 'post',
      path: PATH,
      who: 'anyone',
      tenant: 'optional',
      repeat: 'never',
      body: Body,
      input: { takesForm: true, limitBytes: PASSWORD_BODY_MAX_BYTES },
      response: { orPage: true, isSecret: true },
      ok: Ok,
      refusals: REFUSALS,
      consistency: { waitsFor: [...WAITS_FOR] },
    },
    async (request) => {
      const { token: pasted, code } = request.body;
      if ((pasted === undefined) === (code === undefined)) return badField('token', 'or code');
      if (code !== undefined) {
        const caller = await callerOf(deps.authenticator, request);
        return caller === undefined ? INVALID_CODE : byCode(deps, request, { caller, typed: code });
      }
      const token = pastedToken(pasted ?? '');
      const tenantId = tenantOfToken(token) ?? '';
      const of = {
        kind: 'email_change',
        request,
        refusals: REFUSALS,
        action: PATH,
        token,
      } as const;
      return linkAnswer(deps, { ...of, tenantId }, await byLink(deps, request, token));
    },
  );

export const verifyMyEmailChangeRoute = (deps: VerifyDependencies) =>
  endpoint(
    {
      name: 'verify_my_email_change',
      access: { class: 'settings', stepUp: 'none' },
      summary: 'Confirm a change of my e-mail address by a mailed code',
      description:
        'Confirms one side of the change that waits by the code that was mailed to that address. With the last side the address changes: `email changed`.',
      tag: 'Self-service',
      method: 'post',
      path: '/api/v1/user/email/verify',
      who: ['user'],
      tenant: 'optional',
      repeat: 'never',
      body: closed({ code: Code }),
      ok: Ok,
      refusals: CODE_REFUSALS,
      consistency: { waitsFor: [...WAITS_FOR] },
    },
    async (request) =>
      byCode(deps, request, { caller: request.principal, typed: request.body.code }),
  );

/** The target of the mail's link if the tenant has no page of its own. */
const emailChangePageRoute = (deps: Pick<VerifyDependencies, 'workspaces'>): Endpoint =>
  endpoint(
    {
      name: 'email_change_page',
      summary: 'Page of the link to confirm a change of an address',
      description: 'Shows the page that a mailed link opens. Opening it uses nothing up.',
      tag: 'Authentication',
      method: 'get',
      path: PATH,
      query: LinkQuery,
      who: 'anyone',
      tenant: 'none',
      ok: Type.String(),
      response: { mediaType: 'text/html' },
      refusals: {},
    },
    async (request) => showLinkPage(deps, 'email_change', request, PATH),
  );

type AnyRequest = Request<unknown, unknown, unknown>;
const INVALID_LINK = { refused: 'invalid_link' } as const;
const INVALID_CODE = { refused: 'invalid_code' } as const;

/** Matches an access token. Other kinds of keys do not identify a person. */
const BEARER = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+) *$/i;

/** The person themselves: neither an application nor an administrator in their name. */
async function callerOf(
  authenticator: VerifyDependencies['authenticator'],
  { headers, ip }: AnyRequest,
): Promise<UserPrincipal | undefined> {
  const token = BEARER.exec(headers['authorization'] ?? '')?.[1];
  const shown = token === undefined ? undefined : await authenticator.authenticate(token, ip);
  if (shown?.kind !== 'user' || shown.impersonatedBy !== null || shown.clientId !== null) {
    return undefined;
  }
  const live = await authenticator.confirm(shown);
  return live?.kind === 'user' ? live : undefined;
}

async function byLink(deps: VerifyDependencies, request: AnyRequest, token: string) {
  const misses = [[LIMITS.secretFailuresByIp, request.ip]] as const;
  return await countingRefusals(deps.limits, misses, async () => {
    const tenantId = tenantOfToken(token) ?? '';
    const named = request.tenantId === '' || request.tenantId === tenantId;
    if (!named || (await deps.workspaces.tenant(tenantId)) === undefined) return INVALID_LINK;
    const at = { tenantId, now: deps.clock.now() };
    const peeked = await deps.mailOutbox.peek('email_change', token, at);
    if ('fault' in peeked) return refusalOfLink(peeked.fault);
    const proven = await proved(deps, request, {
      tenantId,
      secret: peeked,
      redeem: async (command) => {
        const redeemed = await deps.mailOutbox.redeem('email_change', token, command);
        return 'fault' in redeemed ? redeemed.fault : 'redeemed';
      },
    });
    return 'fault' in proven ? refusalOfLink(proven.fault) : proven;
  });
}

const refusalOfLink = (fault: Fault) => {
  const linkFault = fault === 'too_many_attempts' ? 'invalid' : fault;
  return fault === 'expired'
    ? ({ refused: 'link_expired', linkFault } as const)
    : ({ ...INVALID_LINK, linkFault } as const);
};

async function byCode(
  deps: VerifyDependencies,
  request: AnyRequest,
  { caller, typed }: { readonly caller: UserPrincipal; readonly typed: string },
) {
  const { tenantId, id } = caller;
  const misses = [
    [LIMITS.codeFailuresByIp, request.ip],
    [LIMITS.emailChangeCodes, `${tenantId}:${id}`],
  ] as const;
  return await countingRefusals(deps.limits, misses, async () => {
    const of = { purpose: 'email_change', format: 'base32', typed, mailbox: undefined } as const;
    const found = await deps.codes.find(of, tenantId);
    if (found === undefined || found.userId !== id) return INVALID_CODE;
    const proven = await proved(deps, request, {
      tenantId,
      secret: found,
      redeem: (command) => deps.codes.redeem(found, command),
    });
    if (!('fault' in proven)) return proven;
    return proven.fault === 'expired' ? ({ refused: 'code_expired' } as const) : INVALID_CODE;
  });
}

type Fault = 'invalid' | 'expired' | 'used' | 'too_many_attempts';
type Secret = { readonly userId: string; readonly mailbox: string; readonly basis: Basis };

/** The mailbox of the secret tells which address it proves. */
async function proved(
  deps: VerifyDependencies,
  request: AnyRequest,
  of: {
    readonly tenantId: string;
    readonly secret: Secret;
    readonly redeem: (command: Command) => Promise<Fault | 'redeemed'>;
  },
) {
  const { tenantId, redeem } = of;
  const { userId, mailbox, basis } = of.secret;
  const user = await deps.userDirectory.byId(tenantId, userId);
  const change = pendingEmailChange(user, deps.clock.now());
  if (!exists(user) || change === undefined || !standsFor(user, basis)) return INVALID;
  const side = mailbox === change.hash ? 'new' : mailbox === user.emailHash ? 'present' : undefined;
  if (side === undefined) return INVALID;
  const actor = { type: 'user', id: userId } as const;
  const command = await deps.command(request, { tenantId, actor });
  const redeemed = await redeem(command);
  if (redeemed !== 'redeemed') return { fault: redeemed };
  const own = { ...command, id: uuidFrom(command.id, 'prove email change') };
  const proof = { changeId: change.id, side, now: command.now } as const;
  const decided = await deps.streams.decideOn(users, userId, own, (state) =>
    proveEmailChange(proof, state),
  );
  if (!decided.accepted) return INVALID;
  const at = { tenantId, userId, changeId: change.id };
  const { outcome, position } = await deps.emailChanges.complete(at, command);
  switch (outcome) {
    case 'changed':
      return { ok: { status: 'email changed' as const }, wrote: position ?? decided.position };
    case 'waiting':
      return { ok: { status: 'proof kept' as const }, wrote: decided.position };
    case 'taken':
      return { refused: 'email_already_exists' as const };
    case 'void': {
      // The policy may have changed the address already.
      const after = await deps.userDirectory.byId(tenantId, userId);
      const isChanged = exists(after) && after.emailHash === change.hash;
      if (!isChanged) return INVALID;
      return { ok: { status: 'email changed' as const }, wrote: decided.position };
    }
  }
}

const INVALID: { readonly fault: Fault } = { fault: 'invalid' };
