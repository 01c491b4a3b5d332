/**
 * Whether a signed token is still valid. The first check of a token reads the streams, as does each check while the
 * shared cache is not trusted. Later checks read only the revocation list for some time.
 */
import { type Revocation, revocationsOf, type VerifiedClaims } from '@cardea/auth';
import { expiringCache } from '@cardea/runtime';
import type { Peers, ServiceDependencies } from '@cardea/service';
import { exists, type UserDirectory } from '../../accounts/accounts.module.ts';
import { consentId, consents } from '../../consents/consents.module.ts';
import { isAlive, sessions, validityContextOf } from '../../sessions/sessions.module.ts';
import type { SnapshotCache } from '../../streams/snapshot-cache.ts';
import type { Workspaces } from '../../workspaces/workspaces.module.ts';
import type { IsKnownClient } from '../client-documents/known-clients.ts';
import { pagesClientId } from '../page-sign-in/pages-client.ts';
import type { OwnToken, VerifyOwn } from './own-tokens.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'revocations' | 'streams'> & {
  readonly snapshots: Pick<SnapshotCache, 'load'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
  readonly ended: Peers['identity']['ended'];
  readonly verifyOwn: VerifyOwn;
  readonly isKnownClient: IsKnownClient;
};

/** Returns undefined for a token that is not ours, has expired or was revoked. */
export type LiveToken = (token: string) => Promise<OwnToken | undefined>;

const FRESH_MS = 30_000;
const FRESH_MAX = 25_000;
const MS = 1_000;

type Seen = { readonly marks: readonly Revocation[]; readonly subscriptionEpoch: number };

export function liveTokens(needs: Dependencies): LiveToken {
  const { clock, revocations, verifyOwn } = needs;
  const seen = expiringCache<OwnToken, Seen>(clock, { entriesMax: FRESH_MAX, ttlMs: FRESH_MS });

  return async (token) => {
    const own = await verifyOwn(token);
    // The clock tolerance is for services that accept tokens. The issuer's own clock decides here.
    if (own === undefined || clock.now().getTime() / MS >= own.claims.exp) return undefined;
    const epoch = revocations.subscriptionEpoch();
    const before = seen.get(own);
    if (before !== undefined && before.subscriptionEpoch === epoch) {
      const { revoked } = await revocations.look(before.marks);
      if (!revoked.includes(true)) return own;
      seen.delete(own);
      return undefined;
    }
    const marks = await marksByStreams(needs, own);
    if (marks === undefined) return undefined;
    if (epoch !== undefined) seen.set(own, { marks, subscriptionEpoch: epoch });
    return own;
  };
}

/** The revocations that would end the token from now on; undefined if one has ended it already. */
async function marksByStreams(
  needs: Dependencies,
  own: OwnToken,
): Promise<readonly Revocation[] | undefined> {
  const { claims } = own;
  const tenant = await needs.workspaces.tenant(claims.tid);
  if (tenant === undefined) return undefined;
  const further = await furtherMarks(needs, own);
  if (further === undefined) return undefined;
  const marks = [...revocationsOf(claims), ...further];
  const { ended } = await needs.ended({ marks });
  return ended.includes(true) ? undefined : marks;
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

async function furtherMarks(
  needs: Dependencies,
  { tokenClass, claims }: OwnToken,
): Promise<readonly Revocation[] | undefined> {
  if (tokenClass === 'capability') {
    const actor = textOf((claims['act'] as { sub?: unknown } | undefined)?.sub);
    const asid = textOf(claims['asid']);
    const keyId = textOf((claims['cnf'] as { akid?: unknown } | undefined)?.akid);
    if (actor === undefined || asid === undefined || keyId === undefined) return undefined;
    return [
      { kind: 'agent', id: actor },
      { kind: 'asid', id: asid },
      { kind: 'key', id: keyId },
    ];
  }
  if (claims['agent_id'] !== undefined || claims['agent_session_id'] !== undefined) return [];
  const clientId = textOf(claims['client_id']);
  if (clientId !== undefined && !(await needs.isKnownClient(claims.tid, clientId)))
    return undefined;
  const ofClient: readonly Revocation[] =
    clientId === undefined ? [] : [{ kind: 'key', id: clientId }];
  if (clientId === claims.sub) return ofClient;
  const ofUser = await userMarks(needs, claims, clientId);
  return ofUser === undefined ? undefined : [...ofClient, ...ofUser];
}

async function userMarks(
  needs: Dependencies,
  claims: VerifiedClaims,
  clientId: string | undefined,
): Promise<readonly Revocation[] | undefined> {
  const { tid: tenantId, sub, iat } = claims;
  const user = await needs.userDirectory.byId(tenantId, sub);
  if (!exists(user) || user.status !== 'active' || iat < user.tokensBefore) return undefined;
  const sid = textOf(claims['sid']);
  const marks: Revocation[] = [];
  let consentEpoch: number | null = null;
  if (clientId !== undefined && clientId !== pagesClientId(tenantId)) {
    const id = consentId({ tenantId, userId: sub, clientId });
    const consent = await needs.snapshots.load(consents, { tenantId, id });
    const grantedAt = consent.status === 'active' ? secondsOf(consent.grantedAt) : Infinity;
    if (consent.status !== 'active' || iat < grantedAt) return undefined;
    consentEpoch = consent.epoch;
    marks.push({ kind: 'consent', id: `${id}.${consent.epoch}` });
  }
  if (sid === undefined) {
    // The token names no session, so whatever ended all of the user's sessions ended this token too.
    return iat + 1 < secondsOf(user.epochSince) ? undefined : marks;
  }
  const { state } = await needs.streams.load(sessions, { tenantId, id: sid });
  if (state.status === 'none' || state.user_id !== sub) return undefined;
  const validity = validityContextOf(user, true, consentEpoch);
  if (!isAlive(state, validity, needs.clock.now())) return undefined;
  return [...marks, { kind: 'sid', id: sid }];
}

/** Seconds, rounded down as `iat` is. */
const secondsOf = (moment: string): number => Math.floor(new Date(moment).getTime() / MS);
