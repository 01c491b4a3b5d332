/**
 * Checks 12 to 17 of a vend: reuse of a live grant, the approval, a new grant. The earlier checks run at each call too,
 * so an approval never preserves authority that was withdrawn since.
 */
import { EventStoreUnavailable } from '@cardea/event-store';
import { failpoint, uuidFrom, writeOrDistrust } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import type { SecretStore } from '../../adapters/secret-store.ts';
import type { IdentityFacts } from '../../identity-facts/identity-facts.ts';
import { approverOf } from '../../policies/policies.module.ts';
import type { Catalog } from '../../services/services.module.ts';
import {
  type CurrentGrant,
  type Grant,
  type GrantKeyState,
  grantKeys,
  isLive,
  SESSION_GRANTS_MS,
  sessionGrantsKey,
} from '../grant-key.ts';
import type { ReuseCounter } from '../reuse.ts';
import type { Waiting } from './approval-client.ts';
import {
  type AuthorizedRequest,
  authorizedRequestOf,
  type Refused,
  type VendCaches,
} from './authorized-request.ts';
import { issueGrant } from './issue-grant.ts';
import { type Consumed, requireApproval } from './require-approval.ts';
import type { VendBody } from './vend-shape.ts';
import type { VendRequest, VerifiedSession } from './verify-session.ts';

type VendingDependencies = Pick<
  ServiceDependencies,
  'cache' | 'clock' | 'command' | 'ids' | 'peers' | 'streams'
> & {
  readonly catalog: Catalog;
  readonly facts: IdentityFacts;
  /** Returns false if the grant key is refreshed by force too often. Used while the cache is unreachable. */
  readonly forceRate: (grantKeyId: string) => boolean;
  readonly caches: VendCaches;
  readonly reuse: ReuseCounter;
  readonly secrets: SecretStore;
};

export type Vended =
  | Refused
  | { readonly waiting: Waiting }
  | {
      readonly grant: CurrentGrant;
      readonly values: readonly string[];
      readonly wrote?: bigint | undefined;
    };

/** Forced refreshes of one grant key, counted in the shared cache, or in this process without it. */
export const FORCED_PER_MINUTE_MAX = 10;
const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;
/** How often the stream of a grant key is read again because another request changed it. */
const CONFLICTS_MAX = 3;

export async function vend(
  vault: VendingDependencies,
  request: VendRequest<VendBody>,
  session: VerifiedSession,
): Promise<Vended> {
  const authorized = await authorizedRequestOf(vault, request, session);
  if ('refused' in authorized) return authorized;
  const { body } = request;
  const grantKey = await readGrantKey(vault, authorized);
  const forced = body.force_refresh === true;
  if (
    !forced &&
    grantKey.status === 'granted' &&
    answers(authorized, grantKey.current, vault.clock.now())
  ) {
    const barred = await barredFromLive(vault, authorized);
    if (barred !== undefined) return { ...barred, service: authorized.service };
    if (vault.reuse.isFull()) throw new EventStoreUnavailable('reuse cannot be recorded');
    return handOut(vault, authorized, grantKey.current);
  }
  const waitSeconds = forced ? await secondsToForce(vault, authorized.grantKeyId) : 0;
  if (waitSeconds > 0) {
    return { refused: 'RATE_LIMITED', service: authorized.service, retryAfterSeconds: waitSeconds };
  }
  return newGrant(vault, authorized);
}

/** Whether the grant is live and the request has no approval other than the one that the grant was issued on. */
function answers(
  { request, requirement, snapshot }: AuthorizedRequest,
  grant: CurrentGrant,
  now: Date,
): boolean {
  const { approval_id: brought } = request.body;
  const fits = requirement === undefined || brought === undefined || brought === grant.approval_id;
  return fits && isLive(grant, snapshot, now);
}

/** An approved grant is reused only while its approver could still approve it. */
async function barredFromLive(vault: VendingDependencies, authorized: AuthorizedRequest) {
  const { requirement, session } = authorized;
  if (requirement === undefined) return undefined;
  const approver = await approverOf(vault, session, requirement);
  return 'refused' in approver ? approver : undefined;
}

/**
 * Takes the grant from the snapshot cache if the session has no newer one, else from the stream. The first request of a
 * session most likely has no grant, so the stream is not read then: the append of the grant proves it.
 */
async function readGrantKey(
  vault: VendingDependencies,
  { request, session, requirement, grantKeyId }: AuthorizedRequest,
): Promise<GrantKeyState> {
  const { caches, cache, ids, streams } = vault;
  const { grantsEpoch, changes } = session;
  const known = caches.grantKeys.get(grantKeyId, grantsEpoch);
  if (known !== undefined) return known;
  const isFirst = grantsEpoch === undefined && changes !== undefined;
  // The stream has to be read before an approval is consumed, and before an uncounted grant is reused.
  const isProvenLater = requirement === undefined && !vault.reuse.isFull();
  if (isFirst && isProvenLater) return grantKeys.initial;
  const { state } = await streams.load(grantKeys, { tenantId: request.tenantId, id: grantKeyId });
  caches.grantKeys.put(grantKeyId, grantsEpoch, state);
  if (isFirst && state.status === 'granted') {
    const key = sessionGrantsKey(session.capability.agentSessionId);
    // The grant may be cached from the next request on.
    await cache.setIfAbsent(key, ids.next(), SESSION_GRANTS_MS).catch(() => {});
  }
  return state;
}

/** Zero if the grant may be refreshed by force now; otherwise the seconds that the caller has to wait. */
async function secondsToForce(
  { cache, forceRate }: VendingDependencies,
  grantKeyId: string,
): Promise<number> {
  try {
    const key = `vault:force:${grantKeyId}`;
    const { count, remainingMs } = await cache.increment(key, 1, MINUTE_MS);
    return count <= FORCED_PER_MINUTE_MAX ? 0 : Math.max(1, Math.ceil(remainingMs / SECOND_MS));
  } catch {
    return forceRate(grantKeyId) ? 0 : MINUTE_MS / FORCED_PER_MINUTE_MAX / SECOND_MS;
  }
}

/** Checks 14 to 17. It decrypts first, so that no approval is consumed for a value that cannot be issued. */
async function newGrant(
  vault: VendingDependencies,
  authorized: AuthorizedRequest,
): Promise<Vended> {
  const { request, service, snapshot } = authorized;
  const of = { tenantId: request.tenantId, ownerId: service.id };
  let opened: readonly Buffer[] = [];
  const open = async () => {
    opened = await vault.secrets.open(of, snapshot.fields);
  };
  try {
    const passed = await requireApproval(vault, authorized, open);
    if ('refused' in passed) return { ...passed, service };
    if ('waiting' in passed) return passed;
    await failpoint('vend.after_consume');
    const issued = await issueUnderKey(vault, authorized, passed.consumed);
    if ('refused' in issued) return { ...issued, service };
    if (issued.reused) vault.reuse.count(request, authorized.grantKeyId, issued.grant.grant_id);
    await failpoint('vend.before_answer');
    const values = opened.map((value) => value.toString('utf8'));
    return { grant: issued.grant, values, wrote: issued.wrote };
  } finally {
    for (const buffer of opened) buffer.fill(0);
  }
}

type Issued =
  | { readonly refused: 'APPROVAL_CONSUMED' }
  | { readonly grant: CurrentGrant; readonly reused: boolean; readonly wrote: bigint | undefined };

async function issueUnderKey(
  vault: VendingDependencies,
  authorized: AuthorizedRequest,
  consumed: Consumed | undefined,
): Promise<Issued> {
  const { request, grantKeyId, snapshot } = authorized;
  const forced = request.body.force_refresh === true;
  const made = await vault.command(request);
  let grantId = consumed?.grantId ?? freshGrantId(vault, authorized);
  for (let conflicts = 0; conflicts < CONFLICTS_MAX; conflicts += 1) {
    const grant = grantOf(authorized, { grantId, consumed, now: made.now });
    const command = { ...made, id: uuidFrom('mint', grantKeyId, grantId) };
    const wanted = { grant, forced, consumed, now: made.now };
    const decided = await vault.streams.decideOn(grantKeys, grantKeyId, command, {
      isNew: true,
      decide: (state) => issueGrant(wanted, state),
    });
    const { state } = decided;
    if (!decided.accepted) return { refused: decided.reason };
    // A repeated command is not decided again, so this part of the decision is made here.
    if (decided.repeated && forced && consumed?.again) return { refused: 'APPROVAL_CONSUMED' };
    const reused = decided.events.length === 0 || decided.repeated;
    if (state.status === 'granted' && isLive(state.current, snapshot, made.now)) {
      if (consumed === undefined || state.current.grant_id === grantId) {
        await cacheGrantKey(vault, authorized, { state, reused });
        return { grant: state.current, reused, wrote: decided.position };
      }
    }
    // The grant with this id was issued before and has ended. An approval issues no second one.
    if (consumed !== undefined) return { refused: 'APPROVAL_CONSUMED' };
    grantId = vault.ids.next();
  }
  throw new EventStoreUnavailable('others were changing the same grant key');
}

/** A repeat with the same `Idempotency-Key` gets the same grant for as long as that one is live. */
function freshGrantId(
  vault: VendingDependencies,
  { request, grantKeyId }: AuthorizedRequest,
): string {
  if (request.idempotency === undefined) return vault.ids.next();
  return uuidFrom('grant.v1', grantKeyId, request.commandId);
}

const MS = 1_000;

function grantOf(
  { session, service, snapshot, accessEndsAt }: AuthorizedRequest,
  of: {
    readonly grantId: string;
    readonly consumed: Consumed | undefined;
    readonly now: Date;
  },
): Grant {
  const { grantId, consumed, now } = of;
  const { capability, factsRequest, sessionEndsAt } = session;
  const ends = [
    now.getTime() + service.default_ttl_seconds * MS,
    sessionEndsAt.getTime(),
    ...(accessEndsAt === undefined ? [] : [accessEndsAt.getTime()]),
  ];
  return {
    grant_id: grantId,
    session_id: capability.agentSessionId,
    agent_id: capability.agentId,
    user_id: factsRequest.userId,
    key_id: capability.keyId,
    cap_jti: capability.tokenId,
    service_id: service.id,
    service_name: service.name,
    credential_type: service.credential_type,
    ...snapshot,
    approval_id: consumed?.approval_id ?? null,
    granted_at: now.toISOString(),
    expires_at: new Date(Math.min(...ends)).toISOString(),
  };
}

/** A new grant makes all processes read the session's grants again. */
async function cacheGrantKey(
  { caches, cache, ids }: VendingDependencies,
  { session, grantKeyId }: AuthorizedRequest,
  { state, reused }: { readonly state: GrantKeyState; readonly reused: boolean },
): Promise<void> {
  const { capability, epoch, grantsEpoch } = session;
  if (reused && grantsEpoch !== undefined) return;
  const value = ids.next();
  const key = sessionGrantsKey(capability.agentSessionId);
  await writeOrDistrust(cache, () => cache.set(key, value, SESSION_GRANTS_MS));
  if (epoch !== undefined) caches.grantKeys.put(grantKeyId, `${epoch} ${value}`, state);
}

async function handOut(
  vault: VendingDependencies,
  { request, service, grantKeyId, snapshot }: AuthorizedRequest,
  grant: CurrentGrant,
): Promise<Vended> {
  const of = { tenantId: request.tenantId, ownerId: service.id };
  const opened = await vault.secrets.open(of, snapshot.fields);
  try {
    vault.reuse.count(request, grantKeyId, grant.grant_id);
    await failpoint('vend.before_answer');
    return { grant, values: opened.map((value) => value.toString('utf8')) };
  } finally {
    for (const buffer of opened) buffer.fill(0);
  }
}
