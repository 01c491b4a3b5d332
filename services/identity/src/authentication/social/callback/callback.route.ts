/**
 * The provider sends the browser back with a code: whoever it is about is signed in. The answer is JSON,
 * or the browser goes on to the page that it came from, with the tokens after the `#`, which is sent to no
 * server.
 */
import { type DerivedKeys, sameBytes, sha256 } from '@cardea/crypto';
import type { Command } from '@cardea/event-store';
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type, { type Static } from 'typebox';
import type { ToAscii } from '../../../accounts/accounts.module.ts';
import { drawLinkToken, onetimeIdOf } from '../../../adapters/link-token.ts';
import type { SocialProviders } from '../../../adapters/social-providers.ts';
import { closed, SecondFactorDue, tooOften } from '../../../http/answers.ts';
import { LIMITS } from '../../../http/limits.ts';
import { frameOf, plainPage, send, wantsPage } from '../../../pages/page.ts';
import { socialRefusalKey } from '../../../pages/texts.ts';
import type {
  SocialProvider,
  TenantFacts,
  Workspaces,
} from '../../../workspaces/workspaces.module.ts';
import { begin, meet } from '../../attempts/attempt.ts';
import { countSignIn, type EndAttempt } from '../../attempts/end-attempt.ts';
import { externalPerson } from '../external-person.ts';
import { issueSocialCode, socialCodes } from '../social-code.ts';
import {
  NO_SOCIAL_COOKIE,
  type PendingSocialSignIn,
  pendingOfCookie,
  SOCIAL_SIGN_IN_MS,
} from '../social-cookie.ts';
import type { SocialHandover } from '../social-handover.ts';
import {
  callbackUrl,
  ProviderParams,
  SOCIAL,
  socialProvider,
  UNAVAILABLE,
} from '../social-sign-in.ts';
import { SocialSignedIn } from '../social-signed-in.ts';
import { personHere } from './person-here.ts';

type Dependencies = Parameters<typeof personHere>[0] &
  Pick<ServiceDependencies, 'cache' | 'clock' | 'random' | 'sealer' | 'settings' | 'streams'> & {
    readonly workspaces: Pick<Workspaces, 'tenant'>;
    readonly socialProviders: Pick<SocialProviders, 'ask'>;
    readonly socialKeys: DerivedKeys;
    readonly endAttempt: Pick<EndAttempt, 'inSession'>;
    readonly socialHandover: SocialHandover;
    readonly toAscii: ToAscii;
  };

/** Providers add further parameters. */
const Query = Type.Object(
  {
    code: Type.Optional(Type.String({ maxLength: 4_096 })),
    state: Type.Optional(Type.String({ maxLength: 512 })),
    iss: Type.Optional(Type.String({ maxLength: 2_048 })),
    error: Type.Optional(Type.String({ maxLength: 256 })),
  },
  { additionalProperties: true },
);
type Returned = Request<{ readonly provider: SocialProvider }, Static<typeof Query>, object>;

export const socialCallbackRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...SOCIAL,
      name: 'social_callback',
      clientName: 'get_social_sign_in',
      summary: 'Come back from a provider',
      method: 'get',
      path: '/api/v1/auth/social/{provider}/callback',
      tenant: 'none',
      showsPages: true,
      params: ProviderParams,
      query: Query,
      ok: Type.Union([SocialSignedIn, SecondFactorDue]),
      otherOk: { 302: closed({}) },
      refusals: REFUSALS,
      waitsFor: ['users', 'sessions'],
    },
    async (request) => {
      const byIp = await needs.limits.look(LIMITS.secretFailuresByIp, request.ip);
      if (!byIp.allowed) return tooOften(byIp);
      const pending = await pendingOf(needs, request);
      if (pending?.interaction !== undefined) {
        return await handedOver(needs, request, { ...pending, interaction: pending.interaction });
      }
      const answer =
        pending === undefined
          ? ({ refused: 'invalid_state' } as const)
          : await signedIn(needs, request, pending);
      if ('refused' in answer) await needs.limits.take(LIMITS.secretFailuresByIp, request.ip);
      const headers = { 'Set-Cookie': NO_SOCIAL_COOKIE };
      if (pending?.redirectUri === null || pending === undefined) {
        if ('refused' in answer && wantsPage(request.headers)) {
          return await refusalPage(needs, request, { answer, tenantId: pending?.tenantId ?? '' });
        }
        return 'refused' in answer
          ? { ...answer, headers: { ...headers, ...('headers' in answer ? answer.headers : {}) } }
          : { ok: answer.ok, wrote: answer.wrote, headers };
      }
      const fragment =
        'refused' in answer
          ? { error: answer.refused }
          : await fragmentOf(needs, answer, pending.tenantId);
      const Location = `${pending.redirectUri}#${new URLSearchParams(fragment)}`;
      const wrote = 'refused' in answer ? undefined : answer.wrote;
      return { ok: {}, status: 302, wrote, headers: { ...headers, Location } };
    },
  );

/** Only the browser that went to the provider comes back from there, and only once. */
async function pendingOf(
  { cache, clock, socialKeys }: Dependencies,
  { headers, params, query }: Returned,
): Promise<PendingSocialSignIn | undefined> {
  const now = clock.now();
  const pending = pendingOfCookie(headers['cookie'], { keys: socialKeys, now });
  if (pending === undefined || pending.provider !== params.provider) return undefined;
  if (!sameBytes(sha256(pending.state), sha256(query.state ?? ''))) return undefined;
  const key = `social:${sha256(pending.state).toString('base64url')}`;
  const isFirst = await cache.setIfAbsent(key, '', SOCIAL_SIGN_IN_MS);
  return isFirst ? pending : undefined;
}

const FAILED = { refused: 'social_sign_in_failed' } as const;
const NOT_CONFIGURED = { refused: 'provider_not_configured' } as const;

/** Who it is goes on to the page at which it was begun, whose cookie this address is not sent. */
async function handedOver(
  needs: Dependencies,
  request: Returned,
  pending: PendingSocialSignIn & { readonly interaction: string },
) {
  const found = await identified(needs, request, pending);
  if ('refused' in found) await needs.limits.take(LIMITS.secretFailuresByIp, request.ip);
  const page = `${needs.settings.ISSUER}/oauth2/interaction/${pending.interaction}`;
  const { provider, tenantId } = pending;
  const Location =
    'refused' in found
      ? `${page}?${new URLSearchParams({ error: found.refused })}`
      : `${page}/social?${new URLSearchParams({
          code: await needs.socialHandover.put({ provider, tenantId, userId: found.user.id }),
        })}`;
  return { ok: {}, status: 302, headers: { 'Set-Cookie': NO_SOCIAL_COOKIE, Location } } as const;
}

const REFUSALS = {
  invalid_state: 400,
  social_sign_in_failed: 401,
  access_denied: 403,
  email_not_verified: 403,
  other_identity: 403,
  registration_closed: 403,
  user_inactive: 403,
  provider_not_configured: 404,
  rate_limited: 429,
  provider_unavailable: 503,
} as const;

async function refusalPage(
  needs: Pick<Dependencies, 'workspaces'>,
  { headers }: Returned,
  of: {
    readonly answer: { readonly refused: keyof typeof REFUSALS };
    readonly tenantId: string;
  },
) {
  const { refused } = of.answer;
  const frame = frameOf(await needs.workspaces.tenant(of.tenantId), headers);
  const text = frame.say(socialRefusalKey(refused));
  const shown = plainPage(frame, frame.say('failed.title'), text);
  return { raw: send(REFUSALS[refused], shown, { 'Set-Cookie': NO_SOCIAL_COOKIE }) };
}

async function signedIn(needs: Dependencies, request: Returned, pending: PendingSocialSignIn) {
  const found = await identified(needs, request, pending);
  return 'refused' in found ? found : await ended(needs, request, found);
}

async function identified(
  needs: Dependencies,
  request: Returned,
  pending: PendingSocialSignIn,
): Promise<Identified | NotIdentified> {
  const { provider } = pending;
  const tenant = await needs.workspaces.tenant(pending.tenantId);
  const configured = tenant && (await socialProvider(needs, tenant, provider));
  if (tenant === undefined || configured === undefined) return NOT_CONFIGURED;
  if (request.query.error === 'access_denied') return { refused: 'access_denied' };
  const returned = new URL(callbackUrl(needs.settings, provider));
  for (const name of ['code', 'state', 'iss', 'error'] as const) {
    const value = request.query[name];
    if (value !== undefined) returned.searchParams.set(name, value);
  }
  const told = await needs.socialProviders.ask(configured, pending, returned);
  if ('fault' in told) {
    return told.fault === 'failed' ? FAILED : UNAVAILABLE;
  }
  const client = tenant.settings.social[provider];
  const person =
    client === null
      ? undefined
      : externalPerson(provider, told, { client, toAscii: needs.toAscii });
  if (person === undefined) return FAILED;
  const readAt = needs.clock.now();
  const here = await personHere(needs, request, { tenant, person });
  return 'refused' in here ? here : { ...here, provider, tenant, readAt };
}

type Here = Extract<Awaited<ReturnType<typeof personHere>>, { user: unknown }>;
type Identified = Here & {
  readonly provider: SocialProvider;
  readonly tenant: TenantFacts;
  readonly readAt: Date;
};

type NotIdentified =
  | typeof FAILED
  | typeof NOT_CONFIGURED
  | typeof UNAVAILABLE
  | { readonly refused: 'access_denied' }
  | Exclude<Awaited<ReturnType<typeof personHere>>, Here>;

async function ended({ endAttempt }: Dependencies, request: Returned, of: Identified) {
  const { user, isNew, command, provider, tenant, readAt } = of;
  const { settings } = tenant;
  const attempt = meet(begin({ via: 'login', first: provider, user, settings }), true);
  countSignIn(attempt);
  if (attempt.status === 'refused') return refusalOf(attempt.reason);
  const end = await endAttempt.inSession(attempt, { request, tenant, readAt }, command);
  if (end.status === 'refused') return refusalOf(end.reason);
  if (end.status === 'second_factor_due') {
    return { ok: end.answer, wrote: undefined, due: end.answer, command } as const;
  }
  const { user_id, access_token, refresh_token, expires_in } = end.signedIn;
  const ok = { user_id, access_token, refresh_token, expires_in, is_new_user: isNew };
  return { ok, wrote: end.wrote, sid: end.sid, command } as const;
}

/** Who they are is proven, so they may know what stands against it. */
function refusalOf(reason: Extract<ReturnType<typeof meet>, { status: 'refused' }>['reason']) {
  switch (reason) {
    case 'disabled':
      return { refused: 'user_inactive' } as const;
    case 'email_not_verified':
      return { refused: reason } as const;
    case 'login_disabled':
      return NOT_CONFIGURED;
    case 'blocked':
    case 'limited':
    case 'erased':
    case 'invalid_credentials':
      return FAILED;
  }
}

type SignedIn = Exclude<Awaited<ReturnType<typeof ended>>, { refused: unknown }>;

/** No refresh token stands in an address: the page gets it for the code. */
async function fragmentOf(
  needs: Pick<Dependencies, 'random' | 'streams'>,
  answer: SignedIn,
  tenantId: string,
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
  const code = drawLinkToken(tenantId, needs.random);
  await issued(needs, { code, sid, userId: ok.user_id, isNewUser: ok.is_new_user }, command);
  return { token: ok.access_token, code };
}

async function issued(
  { streams }: Pick<Dependencies, 'streams'>,
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
