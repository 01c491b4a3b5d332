/**
 * The RFC 7662 response for each class of credential. A credential that is not active gets `{"active":false}` and
 * nothing else.
 */
import { boundKeyOf, type IntrospectedKey } from '@cardea/auth';
import { type DerivedKeys, isGenuineRefreshToken, parseRefreshToken } from '@cardea/crypto';
import type { ServiceDependencies } from '@cardea/service';
import type { UserDirectory } from '../../accounts/accounts.module.ts';
import type { FindLiveKey } from '../../credentials/credentials.module.ts';
import {
  type ConsentEpoch,
  isAlive,
  type SessionEvent,
  sessions,
  validityContextOf,
} from '../../sessions/sessions.module.ts';
import type { Workspaces } from '../../workspaces/workspaces.module.ts';
import type { LiveToken } from './live-tokens.ts';
import type { OwnToken } from './own-tokens.ts';

export type Introspection =
  | { readonly active: false }
  | ({ readonly active: true; readonly tid: string; readonly tenant_id: string } & {
      readonly [claim: string]: unknown;
    });

export const INACTIVE: Introspection = { active: false };

export type Introspect = (
  token: string,
  /** The caller is a service of the deployment, which checks the networks of agent keys itself. */
  isService: boolean,
) => Promise<Introspection>;

type Dependencies = Pick<ServiceDependencies, 'clock' | 'store' | 'streams'> & {
  readonly refreshKeys: DerivedKeys;
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly consentEpoch: ConsentEpoch;
  readonly findLiveKey: FindLiveKey;
  readonly liveToken: LiveToken;
};

export function introspect(needs: Dependencies): Introspect {
  const known = new WeakMap<OwnToken, Introspection>();
  return async (token, isService) => {
    if (token.startsWith('rt_')) return refreshToken(needs, token);
    if (token.startsWith('svc_') || token.startsWith('agk_')) {
      const live = await needs.findLiveKey(token);
      return live === undefined ? INACTIVE : ofKey(live.key, isService);
    }
    const live = await needs.liveToken(token);
    if (live === undefined) return INACTIVE;
    const before = known.get(live);
    if (before !== undefined) return before;
    const shown = live.tokenClass === 'capability' ? ofCapability(live) : ofAccess(live);
    known.set(live, shown);
    return shown;
  };
}

/** Only the current refresh token of a live session is active. Introspection does not consume it. */
async function refreshToken(needs: Dependencies, text: string): Promise<Introspection> {
  const token = parseRefreshToken(text);
  if (token === undefined) return INACTIVE;
  const last = await needs.store.readLast(`session-${token.sid}`);
  if (last === undefined) return INACTIVE;
  const shown = last.data as SessionEvent['data'];
  if (!isGenuineRefreshToken(needs.refreshKeys, token, shown.salt)) return INACTIVE;
  const { tenantId } = last.metadata;
  const [{ state }, user, tenant, consentEpoch] = await Promise.all([
    needs.streams.load(sessions, { tenantId, id: token.sid }),
    needs.userDirectory.byId(tenantId, shown.user_id),
    needs.workspaces.tenant(tenantId),
    shown.consent_id === null ? null : needs.consentEpoch(tenantId, shown.consent_id),
  ]);
  const validity = validityContextOf(user, tenant !== undefined, consentEpoch);
  const isCurrent = state.status === 'known' && state.seq === token.seq;
  if (!isCurrent || !isAlive(state, validity, needs.clock.now())) return INACTIVE;
  return {
    active: true,
    token_type: 'refresh_token',
    sub: state.user_id,
    sid: state.id,
    ...(state.client_id === null ? {} : { client_id: state.client_id }),
    ...(state.scope === null ? {} : { scope: state.scope }),
    tid: tenantId,
    tenant_id: tenantId,
    exp: Math.floor(new Date(state.expires_at).getTime() / 1000),
  };
}

function ofKey(key: IntrospectedKey, isService: boolean): Introspection {
  const common = {
    active: true,
    ...(key.appId === null ? {} : { app_id: key.appId }),
    tid: key.tenantId,
    tenant_id: key.tenantId,
    ...(key.expiresAt === null ? {} : { exp: Math.floor(key.expiresAt) }),
  } as const;
  if (key.kind === 'api_key') {
    const { id: sub, environment } = key;
    return { ...common, token_type: 'api_key', sub, scope: key.scopes.join(' '), environment };
  }
  return {
    ...common,
    token_type: 'agent_key',
    sub: key.id,
    agent_id: key.id,
    akid: key.keyId,
    ...(isService ? { allowed_cidrs: key.allowedCidrs } : {}),
  };
}

const ACCESS = [
  ...['sub', 'tid', 'tenant_id', 'email', 'roles', 'org_id', 'sid', 'exp', 'iat', 'iss', 'aud'],
  ...['jti', 'client_id', 'scope', 'act', 'agent_id', 'agent_session_id', 'app_id', 'cnf'],
];
const CAPABILITY = ['sub', 'act', 'asid', 'cap', 'ver', 'tid', 'tenant_id', 'exp'];

const ofAccess = (token: OwnToken): Introspection =>
  picked(token, boundKeyOf(token.claims) === undefined ? 'Bearer' : 'DPoP', ACCESS);
const ofCapability = (token: OwnToken): Introspection =>
  picked(token, 'agent_capability', CAPABILITY);

function picked({ claims }: OwnToken, token_type: string, names: readonly string[]): Introspection {
  const there = names.filter((name) => claims[name] !== undefined);
  const { tid, tenant_id } = claims;
  const shown = Object.fromEntries(there.map((name) => [name, claims[name]]));
  return { active: true, token_type, ...shown, tid, tenant_id };
}
