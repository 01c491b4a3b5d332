/** Exchanges a refresh token for its successor and a new access token. */
import { isGenuineRefreshToken, parseRefreshToken, type RefreshToken } from '@cardea/crypto';
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import { metrics } from '@cardea/runtime';
import Type, { type Static } from 'typebox';
import { closed, PASSWORD_BODY_MAX_BYTES, tokenFields } from '../../answers.ts';
import { type Identity, tooOften } from '../../identity.ts';
import { LIMITS } from '../../limits.ts';
import { surroundingsOf } from '../../surroundings.ts';
import { exists } from '../../users/user.ts';
import { type SessionEvent, sessions } from '../session.ts';
import { refresh } from './refresh.ts';

const Body = closed({ refresh_token: Type.String({ minLength: 1 }) });
type Asked = Request<object, object, Static<typeof Body>>;

const LIST_WAIT_MS = 2_000;

export const refreshRoute = (identity: Identity): Endpoint =>
  endpoint(
    {
      name: 'refresh',
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
      const byIp = await identity.limits.look(LIMITS.refreshFailuresByIp, request.ip);
      if (!byIp.allowed) return tooOften(byIp);
      const token = parseRefreshToken(request.body.refresh_token);
      const answer = token === undefined ? INVALID : await exchanged(identity, request, token);
      if ('refused' in answer) await identity.limits.take(LIMITS.refreshFailuresByIp, request.ip);
      return answer;
    },
  );

async function exchanged(identity: Identity, request: Asked, token: RefreshToken) {
  const { store, streams, people, workspaces, settings } = identity;
  // The token names no tenant, so its session is looked up by id alone and says which it is.
  const last = await store.readLast(`session-${token.sid}`);
  if (last === undefined) return INVALID;
  const { tenantId } = last.metadata;
  const shown = last.data as SessionEvent['data'];
  if (!isGenuineRefreshToken(identity.refreshKeys, token, shown.salt)) return INVALID;
  if (request.tenantId !== '' && request.tenantId !== tenantId) return INVALID;
  const bySession = await identity.limits.take(LIMITS.refreshBySession, token.sid);
  if (!bySession.allowed) return tooOften(bySession);

  const [user, tenant] = await Promise.all([
    people.byId(tenantId, shown.user_id),
    workspaces.tenant(tenantId),
  ]);
  const command = await identity.command(request, {
    tenantId,
    actor: { type: 'user', id: shown.user_id },
  });
  const rules = tenant?.settings.refresh;
  const decided = await streams.decideFrom(sessions, last, command, (session) =>
    refresh(
      {
        seq: token.seq,
        now: command.now,
        surroundings: surroundingsOf(user, tenant !== undefined),
        mode: rules?.mode ?? 'strict',
        leewayMs: (rules?.leeway_seconds ?? 0) * 1000,
        slidingMs: settings.REFRESH_TOKEN_EXPIRY * 1000,
      },
      session,
    ),
  );
  if (!decided.accepted) {
    if (decided.reason === 'refresh_token_rotated') metrics.refreshReplays.inc();
    if (decided.position !== undefined) await endedByReplay(identity, token.sid, decided.position);
    return { refused: decided.reason, wrote: decided.position } as const;
  }
  if (decided.state.status === 'none' || tenant === undefined || !exists(user)) return INVALID;
  const { status: _status, ...facts } = decided.state;
  const tokens = await identity.loginSessions.tokensOf(facts, user, tenant);
  const ok = { user_id: user.id, ...tokens, email_verified: user.emailVerified };
  return { ok, wrote: decided.position };
}

/** A family that ended so is refused by introspection, and gone from the list that is asked for next. */
async function endedByReplay(
  { revocations, positions }: Identity,
  sid: string,
  position: bigint,
): Promise<void> {
  await revocations.mark('sid', [sid]);
  await positions.reached(['sessions'], position, LIST_WAIT_MS);
}

const INVALID = { refused: 'invalid_refresh_token' } as const;
