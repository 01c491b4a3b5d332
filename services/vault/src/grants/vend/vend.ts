/**
 * Checks 12 to 17 of a vend: reuse of a live grant, the approval, a new grant. The earlier checks run at
 * each call too, so an approval never preserves authority that was withdrawn since.
 */
import { EventStoreUnavailable } from '@cardea/event-store';
import { failpoint, uuidFrom } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import type QuickLRU from 'quick-lru';
import type { SecretStore } from '../../adapters/secret-store.ts';
import type { IdentityFacts } from '../../identity-facts/identity-facts.ts';
import { approverOf } from '../../policies/policies.module.ts';
import type { Catalog } from '../../services/services.module.ts';
import {
  type CurrentGrant,
  type Grant,
  type GrantKeyState,
  grantCacheKey,
  grantKeys,
  isLive,
} from '../grant-key.ts';
import type { ReuseCounter } from '../reuse.ts';
import type { Admitted, VendRequest } from './admission.ts';
import { type Consumed, requireApproval } from './approval-requirement.ts';
import { type AuthorizedRequest, authorizedRequestOf, type Refused } from './authorized-request.ts';
import { issueGrant } from './issue-grant.ts';
import type { Waiting } from './require-approval.ts';
import type { VendCaches } from './vend-caches.ts';
import type { VendBody } from './vend-shape.ts';

type VendingDependencies = Pick<
  ServiceDependencies,
  'cache' | 'clock' | 'command' | 'ids' | 'peers' | 'streams'
> & {
  readonly catalog: Catalog;
  readonly facts: IdentityFacts;
  /** False if the grant key is refreshed by force too often; used while the cache is unreachable. */
  readonly forceRate: (slotId: string) => boolean;
  /** The grant key that a session requested last: it is likely to be the next one too. */
  readonly lastSlots: QuickLRU<string, string>;
  readonly memos: VendCaches;
  readonly reuse: ReuseCounter;
  readonly secrets: SecretStore;
};

export type Vended =
  | Refused
  | { readonly waiting: Waiting }
  | {
      readonly held: CurrentGrant;
      readonly values: readonly string[];
      readonly wrote?: bigint | undefined;
    };

/** Refreshes by force of one grant key, as the shared cache counts them, or this process without it. */
export const FORCED_PER_MINUTE_MAX = 10;
const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;
/** Times that the stream of a grant key is read again because another request changed it. */
const ATTEMPTS_MAX = 3;

export async function vend(
  vault: VendingDependencies,
  request: VendRequest<VendBody>,
  admitted: Admitted,
): Promise<Vended> {
  const way = await authorizedRequestOf(vault, request, admitted);
  if ('refused' in way) return way;
  const { body } = request;
  const slot = await readSlot(vault, way);
  const forced = body.force_refresh === true;
  if (!forced && slot.status === 'held' && answers(way, slot.held, vault.clock.now())) {
    const barred = await barredFromLive(vault, way);
    if (barred !== undefined) return { ...barred, service: way.service };
    if (vault.reuse.isFull()) throw new EventStoreUnavailable('reuse cannot be recorded');
    return handOut(vault, way, slot.held);
  }
  const waitSeconds = forced ? await secondsToForce(vault, way.slotId) : 0;
  if (waitSeconds > 0) {
    return { refused: 'RATE_LIMITED', service: way.service, retryAfterSeconds: waitSeconds };
  }
  return newGrant(vault, way);
}

/**
 * The grant is live, and the request brings no approval other than the one that the grant was issued on.
 */
function answers(
  { request, judgement, snapshot }: AuthorizedRequest,
  held: CurrentGrant,
  now: Date,
): boolean {
  const { approval_id: brought } = request.body;
  const fits =
    judgement.effect === 'allow' || brought === undefined || brought === held.approval_id;
  return fits && isLive(held, snapshot, now);
}

/** An approved grant is reused only while its approver could still approve it. */
async function barredFromLive(vault: VendingDependencies, way: AuthorizedRequest) {
  const { judgement } = way;
  if (judgement.effect !== 'require_approval') return undefined;
  const approver = await approverOf(vault, way.admitted, judgement.demand);
  return 'refused' in approver ? approver : undefined;
}

/** From the snapshot cache if the shared cache names the same grant; else from the stream. */
async function readSlot(
  vault: VendingDependencies,
  { request, admitted, slotId }: AuthorizedRequest,
): Promise<GrantKeyState> {
  const { memos, cache, streams } = vault;
  const { epoch, guess, asked } = admitted;
  vault.lastSlots.set(`${asked.tenantId} ${asked.sessionId}`, slotId);
  const known = memos.slots.get(slotId, epoch);
  if (known !== undefined) {
    const grantId = known.status === 'held' ? known.held.grant_id : undefined;
    const named =
      guess?.slotId === slotId
        ? guess.grantId
        : await cache.get(grantCacheKey(slotId)).catch(() => null);
    if (named === grantId) return known;
  }
  const { state } = await streams.load(grantKeys, { tenantId: request.tenantId, id: slotId });
  memos.slots.put(slotId, epoch, state);
  return state;
}

/** Zero if the grant may be refreshed by force now; else how long the caller has to wait. */
async function secondsToForce(
  { cache, forceRate }: VendingDependencies,
  slotId: string,
): Promise<number> {
  try {
    const key = `vault:force:${slotId}`;
    const { count, remainingMs } = await cache.increment(key, 1, MINUTE_MS);
    return count <= FORCED_PER_MINUTE_MAX ? 0 : Math.max(1, Math.ceil(remainingMs / SECOND_MS));
  } catch {
    return forceRate(slotId) ? 0 : MINUTE_MS / FORCED_PER_MINUTE_MAX / SECOND_MS;
  }
}

/**
 * Checks 14 to 17: decrypts first, so that no approval is consumed for a value that cannot be handed out.
 */
async function newGrant(vault: VendingDependencies, way: AuthorizedRequest): Promise<Vended> {
  const { request, service, snapshot } = way;
  const of = { tenantId: request.tenantId, ownerId: service.id };
  let opened: readonly Buffer[] = [];
  const open = async () => {
    opened = await vault.secrets.open(of, snapshot.fields);
  };
  try {
    const passed = await requireApproval(vault, way, open);
    if ('refused' in passed) return { ...passed, service };
    if ('waiting' in passed) return passed;
    await failpoint('vend.after_consume');
    const minted = await mintInSlot(vault, way, passed.consumed);
    if ('refused' in minted) return { ...minted, service };
    if (minted.reused) vault.reuse.count(request, way.slotId, minted.held.grant_id);
    await failpoint('vend.before_answer');
    const values = opened.map((value) => value.toString('utf8'));
    return { held: minted.held, values, wrote: minted.wrote };
  } finally {
    for (const buffer of opened) buffer.fill(0);
  }
}

type Minted =
  | { readonly refused: 'APPROVAL_CONSUMED' }
  | { readonly held: CurrentGrant; readonly reused: boolean; readonly wrote: bigint | undefined };

async function mintInSlot(
  vault: VendingDependencies,
  way: AuthorizedRequest,
  consumed: Consumed | undefined,
): Promise<Minted> {
  const { request, slotId, snapshot, admitted } = way;
  const forced = request.body.force_refresh === true;
  const made = await vault.command(request);
  let grantId = consumed?.grantId ?? freshGrantId(vault, way);
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const grant = grantOf(way, grantId, made.now);
    const command = { ...made, id: uuidFrom('mint', slotId, grantId) };
    const wanted = { grant, forced, consumed, now: made.now };
    const decided = await vault.streams.decideOn(grantKeys, slotId, command, (state) =>
      issueGrant(wanted, state),
    );
    const { state } = decided;
    if (!decided.accepted) return { refused: decided.reason };
    // A repeated command is not decided again, so this part of the decision is made here.
    if (decided.repeated && forced && consumed?.again) return { refused: 'APPROVAL_CONSUMED' };
    const reused = decided.events.length === 0 || decided.repeated;
    if (state.status === 'held' && isLive(state.held, snapshot, made.now)) {
      if (consumed === undefined || state.held.grant_id === grantId) {
        await remember(vault, { slotId, state, epoch: admitted.epoch });
        return { held: state.held, reused, wrote: decided.position };
      }
    }
    // The grant with this id was issued before and has ended: an approval issues no second one.
    if (consumed !== undefined) return { refused: 'APPROVAL_CONSUMED' };
    grantId = vault.ids.next();
  }
  throw new EventStoreUnavailable('others were changing the same slot');
}

/** A repeat with the same `Idempotency-Key` gets the same grant for as long as that one is live. */
function freshGrantId(vault: VendingDependencies, { request, slotId }: AuthorizedRequest): string {
  if (request.idempotency === undefined) return vault.ids.next();
  return uuidFrom('grant.v1', slotId, request.commandId);
}

const MS = 1_000;

function grantOf(way: AuthorizedRequest, grantId: string, now: Date): Grant {
  const { admitted, service, snapshot, judgement, request } = way;
  const { capability, asked, sessionEndsAt } = admitted;
  const usual = now.getTime() + service.default_ttl_seconds * MS;
  const gated = judgement.effect === 'require_approval';
  return {
    grant_id: grantId,
    session_id: capability.agentSessionId,
    agent_id: capability.agentId,
    user_id: asked.userId,
    key_id: capability.keyId,
    cap_jti: capability.tokenId,
    service_id: service.id,
    service_name: service.name,
    credential_type: service.credential_type,
    ...snapshot,
    approval_id: gated ? (request.body.approval_id ?? null) : null,
    granted_at: now.toISOString(),
    expires_at: new Date(Math.min(usual, sessionEndsAt.getTime())).toISOString(),
  };
}

/** Makes other processes discard what they cached of this grant key. */
async function remember(
  { memos, cache, clock }: VendingDependencies,
  of: {
    readonly slotId: string;
    readonly state: GrantKeyState;
    readonly epoch: string | undefined;
  },
): Promise<void> {
  const { slotId, state, epoch } = of;
  if (state.status === 'empty') return;
  memos.slots.put(slotId, epoch, state);
  const leftMs = Date.parse(state.held.expires_at) - clock.now().getTime();
  // While the shared cache is unreachable no process uses its snapshot cache, so none has to be notified.
  await cache.set(grantCacheKey(slotId), state.held.grant_id, Math.max(1, leftMs)).catch(() => {});
}

async function handOut(
  vault: VendingDependencies,
  { request, service, slotId, snapshot }: AuthorizedRequest,
  held: CurrentGrant,
): Promise<Vended> {
  const of = { tenantId: request.tenantId, ownerId: service.id };
  const opened = await vault.secrets.open(of, snapshot.fields);
  try {
    vault.reuse.count(request, slotId, held.grant_id);
    await failpoint('vend.before_answer');
    return { held, values: opened.map((value) => value.toString('utf8')) };
  } finally {
    for (const buffer of opened) buffer.fill(0);
  }
}
