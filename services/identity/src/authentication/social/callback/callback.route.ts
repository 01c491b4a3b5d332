/**
 * The provider redirects the browser back with a code, and the person is signed in. The response is JSON, or a redirect
 * to the page where the sign-in began. The tokens then follow the `#`, which browsers send to no server.
 */
import { type DerivedKeys, sha256 } from '@cardea/crypto';
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import { plainPage, send, wantsPage } from '@cardea/pages';
import type { Allowed, ServiceDependencies } from '@cardea/service';
import Type, { type Static } from 'typebox';
import type { ToAscii } from '../../../accounts/accounts.module.ts';
import type { SocialProviders } from '../../../adapters/social-providers.ts';
import { closed, SecondFactorDue, tooOften } from '../../../http/answers.ts';
import { settle } from '../../../http/counting-refusals.ts';
import { LIMITS } from '../../../http/limits.ts';
import { frameOf } from '../../../pages/frame.ts';
import type {
  SocialProvider,
  TenantFacts,
  Workspaces,
} from '../../../workspaces/workspaces.module.ts';
import { begin, meet } from '../../attempts/attempt.ts';
import { countSignIn, type EndAttempt } from '../../attempts/end-attempt.ts';
import { externalPerson } from '../external-person.ts';
import {
  endedSocialCookie,
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
import { fragmentOf } from './fragment.ts';
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
      summary: 'Come back from a provider',
      description:
        'Receives the browser from the provider and signs the user in, or sends the browser on to `redirect_uri` with the access token, or the error, after the `#`. It needs the cookie of the browser that was sent.',
      method: 'get',
      repeat: 'get_only',
      path: '/api/v1/auth/social/{provider}/callback',
      tenant: 'none',
      response: { others: { 302: closed({}) }, orPage: true, isSecret: true },
      params: ProviderParams,
      query: Query,
      ok: Type.Union([SocialSignedIn, SecondFactorDue]),
      refusals: REFUSALS,
      consistency: { waitsFor: ['users', 'sessions'] },
    },
    async (request) => {
      const byIp = await needs.limits.take([LIMITS.secretFailuresByIp, request.ip]);
      if (!byIp.allowed) return tooOften(byIp);
      const pending = await pendingOf(needs, request);
      if (pending?.interaction !== undefined) {
        return await handedOver(needs, request, {
          ...pending,
          interaction: pending.interaction,
          byIp,
        });
      }
      const answer =
        pending === undefined
          ? ({ refused: 'invalid_state' } as const)
          : await signedIn(needs, request, pending);
      await settle(byIp, answer);
      const headers = endingOf(pending);
      if (pending?.redirectUri === null || pending === undefined) {
        if ('refused' in answer && wantsPage(request.headers)) {
          return await refusalPage(needs, request, { answer, pending });
        }
        return 'refused' in answer
          ? { ...answer, headers: { ...headers, ...('headers' in answer ? answer.headers : {}) } }
          : { ok: answer.ok, wrote: answer.wrote, headers };
      }
      const fragment =
        'refused' in answer ? { error: answer.refused } : await fragmentOf(needs, answer, pending);
      const Location = `${pending.redirectUri}#${new URLSearchParams(fragment)}`;
      const wrote = 'refused' in answer ? undefined : answer.wrote;
      return { ok: {}, status: 302, wrote, headers: { ...headers, Location } };
    },
  );

/** A response that belongs to no sign-in of this browser ends none. */
const endingOf = (pending: PendingSocialSignIn | undefined) =>
  pending === undefined ? {} : { 'Set-Cookie': endedSocialCookie(pending.state) };

/** Only the browser that was sent to the provider may complete the sign-in, and only once. */
async function pendingOf(
  { cache, clock, socialKeys }: Dependencies,
  { headers, params, query }: Returned,
): Promise<PendingSocialSignIn | undefined> {
  const now = clock.now();
  const sent = { header: headers['cookie'], keys: socialKeys, now };
  const pending = pendingOfCookie(query.state ?? '', sent);
  if (pending === undefined || pending.provider !== params.provider) return undefined;
  const key = `social:${sha256(pending.state).toString('base64url')}`;
  const isFirst = await cache.setIfAbsent(key, '', SOCIAL_SIGN_IN_MS);
  return isFirst ? pending : undefined;
}

const FAILED = { refused: 'social_sign_in_failed' } as const;
const NOT_CONFIGURED = { refused: 'provider_not_configured' } as const;

/**
 * Hands the person over to the hosted page at which the sign-in began. That page's cookie is not sent to this address.
 */
async function handedOver(
  needs: Dependencies,
  request: Returned,
  pending: PendingSocialSignIn & { readonly interaction: string; readonly byIp: Allowed },
) {
  const found = await identified(needs, request, pending);
  await settle(pending.byIp, found);
  const page = `${needs.settings.ISSUER}/oauth2/interaction/${pending.interaction}`;
  const { provider, tenantId } = pending;
  const Location =
    'refused' in found
      ? `${page}?${new URLSearchParams({ error: found.refused })}`
      : `${page}/social?${new URLSearchParams({
          code: await needs.socialHandover.put({ provider, tenantId, ...personOf(found) }),
        })}`;
  return { ok: {}, status: 302, headers: { ...endingOf(pending), Location } } as const;
}

const personOf = ({ user: { id: userId, epoch } }: Identified) => ({
  userId,
  basis: { user_epoch: epoch },
});

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
    readonly pending: PendingSocialSignIn | undefined;
  },
) {
  const { refused } = of.answer;
  const tenant = await needs.workspaces.tenant(of.pending?.tenantId ?? '');
  const frame = frameOf(tenant, headers);
  // The text says that the provider does not vouch for the address.
  const text = frame.sayRefusal(refused === 'email_not_verified' ? 'social_address' : refused);
  const shown = plainPage(frame, frame.say('failed.title'), text);
  return { raw: send(REFUSALS[refused], shown, endingOf(of.pending)) };
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

/** The person is authenticated, so they may learn the objection. */
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
