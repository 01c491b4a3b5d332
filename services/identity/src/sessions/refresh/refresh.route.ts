/** Exchanges a refresh token for its successor and a new access token. */

import {
  type DerivedKeys,
  isGenuineRefreshToken,
  parseRefreshToken,
  type RefreshToken,
  type Sealed,
} from '@cardea/crypto';
import { type RecordedEvent, WriteContention } from '@cardea/event-store';
import { type Endpoint, endpoint, networkOf, type Request } from '@cardea/http';
import { expiringCache, metrics } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import Type, { type Static } from 'typebox';
import { exists, type User, type UserDirectory } from '../../accounts/accounts.module.ts';
import { closed, PASSWORD_BODY_MAX_BYTES, tokenFields, tooOften } from '../../http/answers.ts';
import { LIMITS } from '../../http/limits.ts';
import { sessionField } from '../../streams/encrypted-fields.ts';
import type { TenantFacts, Workspaces } from '../../workspaces/workspaces.module.ts';
import { type LoginSessions, USER_AGENT_CHARACTERS_MAX } from '../login-sessions.ts';
import { type SessionEvent, type SessionFacts, sessions } from '../session.ts';
import { validityContextOf } from '../validity-context.ts';
import { refresh } from './refresh.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'clock' | 'command' | 'limits' | 'positions' | 'sealer' | 'settings' | 'store' | 'streams'
> & {
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly loginSessions: Pick<LoginSessions, 'tokensOf'>;
  readonly refreshKeys: DerivedKeys;
};

const Body = closed({ refresh_token: Type.String({ minLength: 1 }) });
type Asked = Request<object, object, Static<typeof Body>>;

const LIST_WAIT_MS = 2_000;
/** Who made the last refresh is looked up once; twice if another refresh comes in between. */
const LOOKS_MAX = 2;

/** A session never changes its owner: the one that it had when it was last refreshed here. */
type SessionOwner = { readonly tenantId: string; readonly userId: string };
type SessionOwners = {
  readonly get: (sid: string) => SessionOwner | undefined;
  readonly set: (sid: string, owner: SessionOwner) => void;
};
const OWNERS_MAX = 20_000;
/** Longer than access tokens live, for that is how long a client waits between two refreshes. */
const OWNERS_MS = 3_600_000;

export function refreshRoute(given: Dependencies): Endpoint {
  const owners = expiringCache<string, SessionOwner>(given.clock, {
    entriesMax: OWNERS_MAX,
    ttlMs: OWNERS_MS,
  });
  const needs = { ...given, owners };
  return endpoint(
    {
      name: 'refresh',
      clientName: 'refresh_tokens',
      retry: 'never',
      summary: 'Exchange a refresh token',
      tag: 'Authentication',
      method: 'post',
      path: '/api/v1/auth/refresh',
      who: 'anyone',
      tenant: 'optional',
      area: 'user',
      body: Body,
      ok: closed({ user_id: Type.String(), ...tokenFields, email_verified: Type.Boolean() }),
      refusals: { invalid_refresh_token: 401, refresh_token_rotated: 401, rate_limited: 429 },
      noStore: true,
      waitsFor: ['sessions'],
      recordsItsRefusals: true,
      bodyLimitBytes: PASSWORD_BODY_MAX_BYTES,
    },
    async (request) => {
      const byIp = await needs.limits.look(LIMITS.refreshFailuresByIp, request.ip);
      if (!byIp.allowed) return tooOften(byIp);
      const token = parseRefreshToken(request.body.refresh_token);
      const answer = token === undefined ? INVALID : await exchanged(needs, request, token);
      if ('refused' in answer) await needs.limits.take(LIMITS.refreshFailuresByIp, request.ip);
      return answer;
    },
  );
}

async function exchanged(
  needs: Dependencies & { readonly owners: SessionOwners },
  request: Asked,
  token: RefreshToken,
) {
  const readAt = needs.clock.now();
  // The token names no tenant, so its session is looked up by id, and its stream names the tenant. Whose
  // it most likely is, is read in the same trip.
  const likely = needs.owners.get(token.sid);
  const [last, ahead] = await Promise.all([
    needs.store.readLast(`session-${token.sid}`),
    likely && factsOf(needs, likely),
  ]);
  if (last === undefined) return INVALID;
  const { tenantId } = last.metadata;
  const shown = last.data as SessionEvent['data'];
  if (!isGenuineRefreshToken(needs.refreshKeys, token, shown.salt)) return INVALID;
  if (request.tenantId !== '' && request.tenantId !== tenantId) return INVALID;
  const bySession = await needs.limits.take(LIMITS.refreshBySession, token.sid);
  if (!bySession.allowed) return tooOften(bySession);

  const owner = { tenantId, userId: shown.user_id };
  needs.owners.set(token.sid, owner);
  const isAhead = likely?.tenantId === tenantId && likely.userId === owner.userId;
  const { user, tenant } = (isAhead && ahead) || (await factsOf(needs, owner));
  const decided = await decidedOn(needs, request, { token, last, user, tenant });
  if (decided === 'erased') return token.seq < shown.seq ? ROTATED : INVALID;
  if (!decided.accepted) {
    if (decided.reason === 'refresh_token_rotated') metrics.refreshReplays.inc();
    if (decided.position !== undefined && decided.events.some(isRevocation)) {
      // So that the session is missing from the list that the client requests next.
      await needs.positions.reached(['sessions'], decided.position, LIST_WAIT_MS);
    }
    return { refused: decided.reason, wrote: decided.position } as const;
  }
  if (decided.state.status === 'none' || tenant === undefined || !exists(user)) return INVALID;
  const { status: _status, ...facts } = decided.state;
  const tokens = await needs.loginSessions.tokensOf(facts, { user, readAt, tenant });
  const ok = { user_id: user.id, ...tokens, email_verified: user.emailVerified };
  return { ok, wrote: decided.position };
}

async function factsOf(
  { userDirectory, workspaces }: Pick<Dependencies, 'userDirectory' | 'workspaces'>,
  { tenantId, userId }: SessionOwner,
) {
  const [user, tenant] = await Promise.all([
    userDirectory.byId(tenantId, userId),
    workspaces.tenant(tenantId),
  ]);
  return { user, tenant };
}

type Shown = {
  readonly token: RefreshToken;
  /** The session's last event. */
  readonly last: RecordedEvent;
  readonly user: User;
  readonly tenant: TenantFacts | undefined;
};

async function decidedOn(
  { store, streams, sealer, settings, command: commandOf }: Dependencies,
  request: Asked,
  { token, last, user, tenant }: Shown,
) {
  const { tenantId } = last.metadata;
  const { user_id: userId } = last.data as SessionEvent['data'];
  const command = await commandOf(request, { tenantId, actor: { type: 'user', id: userId } });
  const place = sessionField(userId, token.sid, 'refreshed_by');
  const self = JSON.stringify([
    networkOf(request.ip),
    request.userAgent.slice(0, USER_AGENT_CHARACTERS_MAX),
  ]);
  const caller = await sealer.seal(tenantId, place, self);
  if (caller === 'erased') return caller;
  const asked = {
    seq: token.seq,
    now: command.now,
    validity: validityContextOf(user, tenant !== undefined),
    mode: tenant?.settings.refresh.mode ?? 'leeway',
    leewayMs: (tenant?.settings.refresh.leeway_seconds ?? 0) * 1000,
    slidingMs: settings.REFRESH_TOKEN_EXPIRY * 1000,
    caller,
  };
  const opened = (sealed: Sealed) => sealer.open(sealed, place);
  let from = last;
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    const facts = from.data as SessionEvent['data'];
    const lastRefresh = token.seq === facts.seq - 1 ? await madeBy(self, facts, opened) : undefined;
    const decided = await streams.decideFrom(sessions, from, command, (session) =>
      refresh({ ...asked, lastRefresh }, session),
    );
    if (decided.accepted) return decided;
    const { reason } = decided;
    if (reason !== 'not_looked_up') return { ...decided, reason };
    from = (await store.readLast(last.streamId)) ?? from;
  }
  throw new WriteContention('refreshes meet on one session');
}

/**
 * Whether the caller made the session's last refresh. If nobody was recorded, it counts as the caller's.
 */
async function madeBy(
  self: string,
  { seq, refreshed_by: by }: SessionFacts,
  opened: (sealed: Sealed) => Promise<string | null>,
) {
  const isRecorded = by !== undefined && by.seq === seq;
  return { seq, isCallers: !isRecorded || (await opened(by.caller)) === self };
}

const isRevocation = ({ type }: SessionEvent): boolean => type === 'SessionRevoked';

const INVALID = { refused: 'invalid_refresh_token' } as const;
const ROTATED = { refused: 'refresh_token_rotated' } as const;
