/**
 * Exchanges a genuine refresh token for the session's next state, at the endpoint for logins and at the token endpoint
 * for applications.
 */
import {
  type DerivedKeys,
  isGenuineRefreshToken,
  type RefreshToken,
  type Sealed,
} from '@cardea/crypto';
import { WriteContention } from '@cardea/event-store';
import { networkOf, type Request } from '@cardea/http';
import { metrics } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import { type ExistingUser, exists, type User, users } from '../../accounts/accounts.module.ts';
import { tooOften } from '../../http/answers.ts';
import { LIMITS } from '../../http/limits.ts';
import { sessionField } from '../../streams/encrypted-fields.ts';
import {
  TENANT_DEFAULTS,
  type Tenant,
  type TenantFacts,
  tenants,
} from '../../workspaces/workspaces.module.ts';
import { USER_AGENT_CHARACTERS_MAX } from '../login-sessions.ts';
import { type SessionEvent, type SessionFacts, sessions } from '../session.ts';
import { type ConsentEpoch, validityContextOf } from '../validity-context.ts';
import { type RefreshedBy, refresh } from './refresh.ts';

export type RefreshDependencies = Pick<
  ServiceDependencies,
  'clock' | 'command' | 'limits' | 'positions' | 'sealer' | 'settings' | 'streams'
> & {
  readonly consentEpoch: ConsentEpoch;
  readonly refreshKeys: DerivedKeys;
};

type AnyRequest = Request<unknown, unknown, unknown>;

export type Refreshed = {
  readonly session: SessionFacts;
  readonly user: ExistingUser;
  readonly tenant: TenantFacts;
  /** A moment before the user was read. */
  readonly readAt: Date;
  readonly wrote: bigint | undefined;
};
type Refused =
  | {
      readonly refused: 'invalid_refresh_token' | 'refresh_token_rotated';
      readonly wrote?: bigint | undefined;
    }
  | ReturnType<typeof tooOften>;

export type RefreshSession = (
  request: AnyRequest,
  token: RefreshToken,
  by: RefreshedBy,
) => Promise<Refreshed | Refused>;

const LIST_WAIT_MS = 2_000;
/** How often the caller of the last refresh is looked up: once, or twice if another refresh comes in between. */
const LOOKS_MAX = 2;

export const refreshSession =
  (needs: RefreshDependencies): RefreshSession =>
  (request, token, by) =>
    exchanged(needs, request, token, by);

async function exchanged(
  needs: RefreshDependencies,
  request: AnyRequest,
  token: RefreshToken,
  by: RefreshedBy,
): Promise<Refreshed | Refused> {
  const { streams } = needs;
  const readAt = needs.clock.now();
  // The token names no tenant, so its session is found by id, and its stream names the tenant. A cached state suffices:
  // owner and salt never change, and the append verifies the rest.
  const found = streams.lastSeen(sessions, token.sid) ?? (await streams.find(sessions, token.sid));
  if (found === undefined || found.state.status === 'none') return INVALID;
  const { tenantId, state: session } = found;
  if (!isGenuineRefreshToken(needs.refreshKeys, token, session.salt)) return INVALID;
  if (request.tenantId !== '' && request.tenantId !== tenantId) return INVALID;
  const bySession = await needs.limits.take([LIMITS.refreshBySession, token.sid]);
  if (!bySession.allowed) return tooOften(bySession);

  const decided = await decidedOn(needs, request, { token, tenantId, session, by });
  if (decided === 'erased') return token.seq < session.seq ? ROTATED : INVALID;
  if (!decided.accepted) {
    if (decided.reason === 'refresh_token_rotated') metrics.refreshReplays.inc();
    if (decided.position !== undefined && decided.events.some(isRevocation)) {
      // Waits for the table, so that the session is missing from the list that the client requests next.
      await needs.positions.reached(['sessions'], decided.position, LIST_WAIT_MS);
    }
    return { refused: decided.reason, wrote: decided.position } as const;
  }
  const { user, tenant } = decided.basis;
  if (decided.state.status === 'none' || tenant.status !== 'active' || !exists(user))
    return INVALID;
  const { status: _status, ...refreshed } = decided.state;
  return { session: refreshed, user, tenant, readAt, wrote: decided.position };
}

type Shown = {
  readonly token: RefreshToken;
  readonly tenantId: string;
  /** The session as it was read, which may be outdated. */
  readonly session: SessionFacts;
  readonly by: RefreshedBy;
};
/** The other states on which the decision was based. */
type RefreshBasis = { readonly user: User; readonly tenant: Tenant };

async function decidedOn(
  { streams, sealer, settings, consentEpoch, command: commandOf }: RefreshDependencies,
  request: AnyRequest,
  { token, tenantId, session, by }: Shown,
) {
  const { user_id: userId, consent_id: consentId } = session;
  const command = await commandOf(request, { tenantId, actor: { type: 'user', id: userId } });
  const place = sessionField(userId, token.sid, 'refreshed_by');
  const self = JSON.stringify([
    networkOf(request.ip),
    request.userAgent.slice(0, USER_AGENT_CHARACTERS_MAX),
  ]);
  const caller = await sealer.seal(tenantId, place, self);
  if (caller === 'erased') return caller;
  const shown = { by, seq: token.seq, now: command.now, caller };
  const slidingMs = settings.REFRESH_TOKEN_EXPIRY * 1000;
  const opened = (sealed: Sealed) => sealer.open(sealed, place);
  const restsOn = {
    user: { stream: users, id: userId },
    tenant: { stream: tenants, id: tenantId },
  };
  let from = session;
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    const lastRefresh = token.seq === from.seq - 1 ? await madeBy(self, from, opened) : undefined;
    const epoch = consentId === null ? null : await consentEpoch(tenantId, consentId);
    let basis: RefreshBasis = { user: users.initial, tenant: tenants.initial };
    const decided = await streams.decideOnBasis(sessions, token.sid, command, {
      restsOn,
      decide: (state, found) => {
        basis = found;
        return refresh({ ...shown, slidingMs, lastRefresh, ...circumstances(found, epoch) }, state);
      },
    });
    if (decided.accepted) return { ...decided, basis };
    const { reason, state } = decided;
    if (reason !== 'not_looked_up') return { ...decided, reason };
    if (state.status !== 'none') from = state;
  }
  throw new WriteContention('refreshes meet on one session');
}

function circumstances({ user, tenant }: RefreshBasis, consentEpoch: number | null) {
  const { refresh: rules } = tenant.status === 'active' ? tenant.settings : TENANT_DEFAULTS;
  return {
    validity: validityContextOf(user, tenant.status === 'active', consentEpoch),
    mode: rules.mode,
    leewayMs: rules.leeway_seconds * 1000,
  };
}

/** Whether the caller made the session's last refresh. If no caller was recorded, it counts as this one's. */
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
