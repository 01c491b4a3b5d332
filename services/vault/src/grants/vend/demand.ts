/** Row 14 of a vend: whether a person has to be asked, whom, and what they have said. */
import { uuidFrom } from '@cardea/runtime';
import { isDisabled } from '../../facts.ts';
import type { Demand } from '../../policies/judge.ts';
import type { Vault } from '../../vault.ts';
import {
  type Ask,
  consumeApproval,
  digestOf,
  type GateRefusal,
  openGate,
  type Waiting,
} from './gate.ts';
import type { Way } from './way.ts';

export type Consumed = {
  readonly approval_id: string;
  readonly use_before: string;
  readonly again: boolean;
  /** The one grant that this approval makes. */
  readonly grantId: string;
};
export type Passed =
  | { readonly consumed: Consumed | undefined }
  | { readonly waiting: Waiting }
  | { readonly refused: GateRefusal; readonly retryAfterSeconds?: number };

/** `open` decrypts; it comes before the approval is used up, and not where nothing can be handed out. */
export async function throughGate(
  vault: Vault,
  way: Way,
  open: () => Promise<void>,
): Promise<Passed> {
  const { judgement, request } = way;
  if (judgement.effect !== 'require_approval') {
    await open();
    return { consumed: undefined };
  }
  const approverId = await approverOf(vault, way, judgement.demand);
  if (approverId === undefined) return { refused: 'NO_APPROVER' };
  const ask = askOf(way, { demand: judgement.demand, approverId, commandId: vault.ids.next() });
  const needs = { approval: vault.peers.approval, clock: vault.clock };
  const { approval_id: approvalId } = request.body;
  if (approvalId === undefined) {
    const opened = await openGate(needs, ask);
    if ('consumed' in opened) throw new Error('an approval was used up before it was given');
    return opened;
  }
  await open();
  const grantId = uuidFrom('grant.v1', approvalId, digestOf(ask));
  const gate = await consumeApproval(needs, ask, { approvalId, grantId });
  if (!('consumed' in gate)) return gate;
  return { consumed: { approval_id: approvalId, ...gate.consumed, grantId } };
}

/** Undefined where nobody can be asked. */
async function approverOf(
  { facts }: Vault,
  { request, admitted }: Way,
  { approver }: Demand,
): Promise<string | undefined> {
  if (approver === 'nobody') return undefined;
  if (approver === 'session_user') return admitted.asked.userId ?? undefined;
  const status = await facts.userStatus(request.tenantId, approver.user_id);
  return isDisabled(status) ? undefined : approver.user_id;
}

const askOf = (
  { request, admitted, service, fields, judgement }: Way,
  of: Pick<Ask, 'demand' | 'approverId' | 'commandId'>,
): Ask => ({
  ...of,
  tenantId: request.tenantId,
  agentId: admitted.capability.agentId,
  sessionId: admitted.capability.agentSessionId,
  service,
  fields,
  policies: judgement.matched,
  purpose: admitted.capability.purpose,
  appId: request.appId,
  context: {
    ip: request.ip,
    user_agent: request.userAgent,
    app_id: request.appId ?? null,
    agent_id: admitted.capability.agentId,
    request_id: request.requestId,
  },
});
