/** Reads requests from their streams and decrypts their texts. Overdue requests are recorded as expired. */
import type { ServiceDependencies } from '@cardea/service';
import type { Details } from '../actions/details.ts';
import type { IdentityFacts } from '../identity-facts/identity-facts.ts';
import type { Changes } from './changes.ts';
import { expire } from './expire/expire.ts';
import {
  type ApprovalRequest,
  approvalsNeeded,
  type ExistingRequest,
  type ExpiryCause,
  givenBy,
  isOverdue,
  requests,
  streamOf,
  useBefore,
} from './request.ts';
import { type RequestSnapshot, type Shown, shown } from './request-shape.ts';
import { escalationOf } from './who-decides.ts';

/** A reader that finds an overdue request expires it, so that no later decision can contradict the response. */
export async function readRequest(
  approval: Pick<ServiceDependencies, 'streams' | 'clock' | 'systemCommand'> & {
    readonly changes: Changes;
  },
  tenantId: string,
  id: string,
): Promise<ApprovalRequest> {
  const { state } = await approval.streams.load(requests, { tenantId, id });
  if (!isOverdue(state, approval.clock.now())) return state;
  return endRequest(approval, { tenantId, id, cause: 'time' });
}

type Ending = {
  readonly tenantId: string;
  readonly id: string;
  readonly cause: ExpiryCause;
};

export async function endRequest(
  needs: Pick<ServiceDependencies, 'streams' | 'systemCommand'> & { readonly changes: Changes },
  ending: Ending,
): Promise<ApprovalRequest> {
  const { id, command, decide } = endOf(needs, ending);
  const decided = await needs.streams.decideOn(requests, id, command, decide);
  await announceEnd(needs, id, decided);
  return decided.state;
}

/** The decision that ends a request, for callers that decide on many requests at once. */
export function endOf(
  { systemCommand }: Pick<ServiceDependencies, 'systemCommand'>,
  { tenantId, id, cause }: Ending,
) {
  const command = systemCommand(tenantId, 'expire', cause, id);
  const decide = (request: ApprovalRequest) => expire(cause, command.now, request);
  return { id, command, decide };
}

/** If the command is a repeat, its result has already been announced. */
export async function announceEnd(
  { changes }: { readonly changes: Changes },
  id: string,
  ended: {
    readonly position: bigint | undefined;
    readonly repeated: boolean;
    readonly revision: number;
  },
): Promise<void> {
  if (ended.position !== undefined && !ended.repeated) await changes.announce(id, ended.revision);
}

export function snapshotOf(request: ExistingRequest): RequestSnapshot {
  const { facts, status } = request;
  const answered = status === 'approved' || status === 'denied' ? request : undefined;
  const escalation = escalationOf(facts);
  return {
    id: facts.id,
    tenantId: facts.tenant_id,
    agentId: facts.agent_id,
    agentName: facts.agent_name,
    userId: facts.user_id,
    origin: facts.origin,
    userVouched: answered?.userVouched ?? null,
    action: facts.action,
    resource: facts.resource ?? null,
    severity: facts.severity,
    status,
    createdAt: facts.created_at,
    expiresAt: facts.expires_at,
    respondedAt: answered?.respondedAt ?? null,
    respondedBy: answered?.respondedBy ?? null,
    binding: facts.binding ?? null,
    actionBinding: facts.action_binding ?? null,
    useBefore: useBefore(request)?.toISOString() ?? null,
    consumed: request.status === 'approved' && request.consumed !== null,
    approver: facts.approver ?? null,
    needed: approvalsNeeded(facts),
    responders: request.status === 'approved' ? (request.responders ?? []) : givenBy(request),
    access: facts.access ?? null,
    escalatesAt: escalation?.at.toISOString() ?? null,
    escalatesTo: escalation?.to ?? null,
    deputyFor: facts.deputy_for ?? null,
  };
}

/** The comment of the person who decided. Null if there is none or it was erased. */
export async function commentOf(
  { sealer }: Pick<ServiceDependencies, 'sealer'>,
  request: ExistingRequest,
): Promise<string | null> {
  if (request.status !== 'approved' && request.status !== 'denied') return null;
  const { status, words, facts } = request;
  if (words === undefined) return null;
  const field = status === 'approved' ? 'comment' : 'deny_reason';
  return sealer.open(words, { streamId: streamOf(facts.id), field });
}

/** The request as its readers see it. */
export async function showRequest(
  {
    identityFacts,
    sealer,
  }: Pick<ServiceDependencies, 'sealer'> & { readonly identityFacts: IdentityFacts },
  request: ExistingRequest,
): Promise<Shown> {
  const { facts } = request;
  const streamId = streamOf(facts.id);
  const isToSet = facts.approver !== undefined;
  const [user, reason, details, comment] = await Promise.all([
    isToSet ? undefined : identityFacts.user(facts.tenant_id, facts.user_id),
    facts.reason === undefined ? null : sealer.open(facts.reason, { streamId, field: 'reason' }),
    facts.details === undefined ? null : sealer.open(facts.details, { streamId, field: 'details' }),
    commentOf({ sealer }, request),
  ]);
  return shown(snapshotOf(request), {
    email: user?.email ?? '',
    // For a request to a set, only persons for whom the tenant vouches can decide.
    vouched: user?.vouched ?? isToSet,
    reason,
    details: details === null ? undefined : (JSON.parse(details) as Details),
    comment,
  });
}
