/**
 * The approval RPC that vault calls to open, read and consume a request (`docs/design/approval.md`, Commands for
 * vault).
 */
import type {
  ConsumeApproval,
  ConsumedApproval,
  OpenApproval,
  OpenedApproval,
} from '@cardea/contracts';
import { contextLocation } from '@cardea/crypto';
import { type Command, WriteContention } from '@cardea/event-store';
import { cleaned } from '@cardea/runtime';
import type { FactCopies, Peers, ServiceDependencies, SetHolders } from '@cardea/service';
import {
  askQueue,
  type Binding,
  type Changes,
  type Counters,
  type DeputyPeriod,
  deputyInForce,
  type ExistingRequest,
  type IdentityFacts,
  isVouchRequired,
  makeRequest,
  patiently,
  readRequest,
  requests,
  sealWord,
  severalMayDecide,
  showRequest,
  stillHolding,
  streamOf,
  useBefore,
  userValidity,
} from '../requests/requests.module.ts';
import { consume } from './consume/consume.ts';
import { entryUntil, vendFacts } from './open/open.ts';
import { bindingMessage, vendReason } from './texts.ts';

/** How long the request may be missing from the pending list after a vend's 202 response. */
const TABLE_WAIT_MS = 2_000;

export type ApprovalRpcDependencies = Pick<
  ServiceDependencies,
  'streams' | 'positions' | 'sealer' | 'clock' | 'ids' | 'random' | 'systemCommand'
> & {
  readonly identityFacts: IdentityFacts;
  readonly factCopies: Pick<FactCopies, 'user'>;
  readonly counters: Counters;
  readonly changes: Changes;
  readonly setHolders: SetHolders;
};

export const approvalRpc = (approval: ApprovalRpcDependencies): Peers['approval'] => ({
  open: (open) => openRequest(approval, open),
  get: async ({ tenant_id: tenantId, id }) => {
    const request = await readRequest(approval, tenantId, id);
    if (request.status === 'none') return { outcome: 'not_found' };
    const digest = request.facts.binding?.digest ?? null;
    return { outcome: 'found', request: { ...(await showRequest(approval, request)), digest } };
  },
  consume: (use) => consumeRequest(approval, use),
});

async function openRequest(
  approval: ApprovalRpcDependencies,
  open: OpenApproval,
): Promise<OpenedApproval> {
  const { identityFacts, clock } = approval;
  const { tenant_id: tenantId, agent_id: agentId, user_id: userId } = open;
  let around = await identityFacts.around(tenantId, userId, agentId);
  const isToSet = isSet(open);
  if ((around.user === undefined && !isToSet) || around.agent === undefined) {
    await patiently(clock, async () => {
      around = await identityFacts.around(tenantId, userId, agentId);
      return (around.user ?? isToSet) && around.agent;
    });
  }
  const { agent, channels } = around;
  const standing = await askedNow(approval, open);
  if ('outcome' in standing) return standing;
  const deputy = await deputyOf(approval, open, around.deputy);
  const command = await commandOf(approval, open, { id: open.command_id, context: open.context });
  const ownId = approval.ids.next();
  const expiresAt = new Date(command.now.getTime() + open.ttl_seconds * 1000).toISOString();
  const until = entryUntil(open, expiresAt);
  const entry = { digest: open.digest, resource: open.service_name, request_id: ownId, until };
  const asked = await askQueue(approval, { agentId, userId, entry }, command);
  switch (asked.outcome) {
    case 'cooling_down':
    case 'muted':
      return { outcome: asked.outcome, until: asked.until.toISOString() };
    case 'rate_limited': {
      const waitMs = asked.until.getTime() - command.now.getTime();
      return { outcome: 'rate_limited', retry_after: Math.max(1, Math.ceil(waitMs / 1000)) };
    }
    case 'enqueued':
    case 'joined': {
      const id = asked.outcome === 'joined' ? asked.requestId : ownId;
      const agentName = agent?.name ?? agentId;
      const userVouched = deputy !== undefined || standing.isVouched;
      const made = { id, agentName, userVouched, deputy, channels, command };
      return standOrMake(approval, open, made);
    }
  }
}

const isSet = ({ approver }: OpenApproval): boolean => approver !== undefined && approver !== null;

/** Returns the approver's deputy. There is none for a set, nor for a request about the approver's own connection. */
async function deputyOf(
  approval: ApprovalRpcDependencies,
  open: OpenApproval,
  deputy: DeputyPeriod | undefined,
): Promise<string | undefined> {
  if (isSet(open) || open.own_connection === true) return undefined;
  const { tenant_id: tenantId, user_id: userId, exclude_session_user: excludes } = open;
  const excludedUserId = excludes === true ? (open.session_user_id ?? undefined) : undefined;
  const of = { tenantId, userId, deputy, excludedUserId };
  return deputyInForce(approval, of, approval.clock.now());
}

/** Checks whether the approver could decide now. For a set, checks whether enough of its members could. */
async function askedNow(
  approval: ApprovalRpcDependencies,
  open: OpenApproval,
): Promise<
  | { readonly isVouched: boolean }
  | Extract<OpenedApproval, { outcome: 'user_inactive' | 'user_not_vouched' | 'no_approver' }>
> {
  const { tenant_id: tenantId, user_id: userId, approver: set } = open;
  if (set === undefined || set === null) {
    const vouchRequired = open.vouch_required === true;
    const standing = await userValidity(approval, { tenantId, userId }, vouchRequired);
    if (!standing.isActive) return { outcome: 'user_inactive' };
    if (vouchRequired && !standing.isVouched) return { outcome: 'user_not_vouched' };
    return standing;
  }
  const excludedUserId =
    open.exclude_session_user === true ? (open.session_user_id ?? undefined) : undefined;
  const question = { tenantId, set, needed: open.needed ?? 1, excludedUserId };
  const found = await approval.setHolders.of(question);
  if ('noApprover' in found) return { outcome: 'no_approver', reason: found.noApprover };
  return { isVouched: true };
}

type Make = {
  readonly id: string;
  readonly agentName: string;
  readonly userVouched: boolean;
  /** The deputy who receives the request in place of the user. */
  readonly deputy: string | undefined;
  readonly channels: readonly string[];
  readonly command: Command;
};

/**
 * Returns the request with this id. Creates it if it is missing, because a crash between the two appends leaves only
 * the queue entry.
 */
async function standOrMake(
  approval: ApprovalRpcDependencies,
  open: OpenApproval,
  make: Make,
): Promise<OpenedApproval> {
  const { id, command } = make;
  const { tenant_id: tenantId } = open;
  const userId = make.deputy ?? open.user_id;
  const before = await approval.streams.load(requests, { tenantId, id });
  if (before.state.status !== 'none') {
    return { outcome: 'joined', id, ...(await waitingFor(approval, before.state)) };
  }
  const place = { tenantId, userId, requestId: id, isToSet: isSet(open) };
  const said = vendReason({
    service: open.service_name,
    fields: open.fields,
    grantTtlSeconds: open.grant_ttl_seconds,
    purpose: open.purpose ?? undefined,
  });
  const reason = await sealWord(approval, place, 'reason', said);
  const code = await sealWord(approval, place, 'code', drawCode(approval));
  const words = cleaned(open.purpose ?? '');
  const purpose = words === '' ? undefined : await sealWord(approval, place, 'purpose', words);
  if (reason === 'erased' || code === 'erased' || purpose === 'erased')
    return { outcome: 'user_inactive' };
  const { ip } = command.metadata;
  const facts = vendFacts(open, { ...make, userId, reason, purpose, ip, code }, command.now);
  const made = await makeRequest(approval, facts, command);
  if (made.request.status === 'none') throw new Error('a request that was made does not stand');
  if (made.position !== undefined) {
    await approval.positions.reached(['requests'], made.position, TABLE_WAIT_MS);
  }
  const outcome = made.isNew ? 'opened' : 'joined';
  return { outcome, id: made.request.facts.id, ...(await waitingFor(approval, made.request)) };
}

const CODES = 10_000;

/** Draws four digits with equal probability. Draws that would make some digits more likely are discarded. */
function drawCode({ random }: ApprovalRpcDependencies): string {
  const fair = 2 ** 32 - (2 ** 32 % CODES);
  let drawn = fair;
  while (drawn >= fair) drawn = random.bytes(4).readUInt32BE();
  return String(drawn % CODES).padStart(4, '0');
}

async function waitingFor(approval: ApprovalRpcDependencies, request: ExistingRequest) {
  const leftMs = Date.parse(request.facts.expires_at) - approval.clock.now().getTime();
  return {
    expires_in: Math.max(0, Math.ceil(leftMs / 1000)),
    binding_message: await messageOf(approval, request),
  };
}

async function messageOf(
  { sealer }: ApprovalRpcDependencies,
  { facts }: ExistingRequest,
): Promise<string> {
  const binding = facts.binding as Binding;
  const code = await sealer.open(binding.code, { streamId: streamOf(facts.id), field: 'code' });
  return bindingMessage({
    agentName: cleaned(facts.agent_name),
    service: binding.service_name,
    fields: binding.fields,
    code,
  });
}

async function consumeRequest(
  approval: ApprovalRpcDependencies,
  use: ConsumeApproval,
): Promise<ConsumedApproval> {
  const { id, tenant_id: tenantId, agent_id: agentId, digest, grant_id: grantId } = use;
  const { state } = await approval.streams.load(requests, { tenantId, id });
  if (state.status === 'none') return { outcome: 'not_found' };
  const ofUser = { tenantId, userId: state.facts.user_id };
  const vouchRequired = isVouchRequired(state.facts);
  const isForSeveral = severalMayDecide(state.facts);
  const user = isForSeveral ? NOT_ASKED : await userValidity(approval, ofUser, vouchRequired);
  const of = { tenant_id: tenantId, agent_id: agentId };
  const command = await commandOf(approval, of, {
    id: approval.ids.next(),
    context: use.context,
  });
  const userIs = { userIsActive: user.isActive, userIsVouched: user.isVouched };
  const ask = { agentId, digest, grantId, now: command.now, ...userIs };
  // If the approval was used already, the call is a repeat, which needs no lookup of the approvers.
  const holding =
    isForSeveral && canBeUsed(state, ask)
      ? await stillHolding(approval, state, command.now)
      : undefined;
  const decided = await approval.streams.decideOn(requests, id, command, (request) =>
    consume({ ...ask, stillHolding: holding }, request),
  );
  if (decided.position !== undefined) await approval.changes.announce(id, decided.revision);
  const request = decided.state;
  if (request.status === 'none') return { outcome: 'not_found' };
  if (decided.accepted) {
    const again = decided.position === undefined;
    const before = useBefore(request);
    if (before === null) throw new Error('an approval was used that nobody gave');
    return { outcome: 'consumed', again, use_before: before.toISOString() };
  }
  if (decided.reason === 'pending') {
    return { outcome: 'pending', ...(await waitingFor(approval, request)) };
  }
  const { reason } = decided;
  if (reason === 'no_approver') return { outcome: reason, reason: 'approver_lost' };
  // The set approved after the approvers were looked up, so the caller has to try again.
  if (reason === 'look_again') throw new WriteContention('a request is decided at this moment');
  return { outcome: reason };
}

/** Used if several may decide. Those who approved are looked up separately then. */
const NOT_ASKED = { isActive: true, isVouched: true };

const canBeUsed = (
  request: ExistingRequest,
  { agentId, digest }: { readonly agentId: string; readonly digest: string },
): boolean =>
  request.status === 'approved' &&
  request.consumed === null &&
  request.facts.agent_id === agentId &&
  request.facts.binding?.digest === digest;

/** The command runs in the name of the agent that vends. */
async function commandOf(
  { sealer, clock }: ApprovalRpcDependencies,
  of: { readonly tenant_id: string; readonly agent_id: string; readonly app_id?: string | null },
  {
    id,
    context = {},
  }: { readonly id: string; readonly context?: OpenApproval['context'] | undefined },
): Promise<Command> {
  const now = clock.now();
  const { tenant_id: tenantId, agent_id } = of;
  const seal = async (field: 'ip' | 'user_agent', text: string | null | undefined) =>
    text === undefined || text === null
      ? undefined
      : await sealer.seal(tenantId, contextLocation(tenantId, now, field), text);
  const [ip, userAgent] = await Promise.all([
    seal('ip', context.ip),
    seal('user_agent', context.user_agent),
  ]);
  const appId = of.app_id ?? context.app_id;
  const { request_id: requestId, traceparent } = context;
  return {
    id,
    now,
    metadata: {
      tenantId,
      actor: { type: 'agent', id: agent_id },
      ...(appId === undefined || appId === null ? {} : { appId }),
      ...(context.app_claimed === true ? { appClaimed: true as const } : {}),
      ...(requestId === undefined || requestId === null ? {} : { requestId }),
      ...(traceparent === undefined || traceparent === null ? {} : { traceparent }),
      ...(ip === undefined || ip === 'erased' ? {} : { ip }),
      ...(userAgent === undefined || userAgent === 'erased' ? {} : { userAgent }),
    },
  };
}
