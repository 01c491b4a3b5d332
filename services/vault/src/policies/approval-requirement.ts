/** Row 14 of a vend: whether a person has to be asked, whom, and what they have said. */
import { uuidFrom } from '@cardea/runtime';
import { appOf } from '@cardea/service';
import type { Admitted } from '../grants/vend/admission.ts';
import {
  type Ask,
  consumeApproval,
  digestOf,
  type GateRefusal,
  NOT_VOUCHED,
  type NoApproverReason,
  openGate,
  type Waiting,
} from '../grants/vend/gate.ts';
import type { Way } from '../grants/vend/way.ts';
import { isDisabled } from '../identity-facts/identity-facts.ts';
import type { Vault } from '../vault.ts';
import type { Demand } from './judge.ts';

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
  | {
      readonly refused: GateRefusal;
      readonly retryAfterSeconds?: number;
      readonly reason?: NoApproverReason;
    };

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
  const approver = await approverOf(vault, way.admitted, judgement.demand);
  if ('refused' in approver) return approver;
  const { approverId } = approver;
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

/** Who is to be asked: active, and vouched for by the tenant, for anybody can register as a user of it. */
export async function approverOf(
  vault: Vault,
  by: Pick<Admitted, 'asked' | 'changes'>,
  { approver }: Pick<Demand, 'approver'>,
): Promise<
  | { readonly approverId: string }
  | { readonly refused: 'NO_APPROVER'; readonly reason?: NoApproverReason }
> {
  const userId = await approverIdOf(vault, by, approver);
  if (userId === null) return { refused: 'NO_APPROVER' };
  const of = { tenantId: by.asked.tenantId, userId };
  const user = await vault.facts.approver(of, by.changes);
  if (isDisabled(user?.status)) return { refused: 'NO_APPROVER' };
  return user?.vouched === true ? { approverId: userId } : NOT_VOUCHED;
}

async function approverIdOf(
  { facts }: Vault,
  { asked, changes }: Pick<Admitted, 'asked' | 'changes'>,
  approver: Demand['approver'],
): Promise<string | null> {
  switch (approver) {
    case 'nobody':
      return null;
    case 'session_user':
      return asked.userId;
    case 'agent_owner':
      return facts.ownerOf(asked, changes);
  }
  return approver.user_id;
}

const contextAppOf = (request: Way['request']) => {
  const { appId, appClaimed } = appOf(request);
  return { app_id: appId ?? null, ...(appClaimed ? { app_claimed: appClaimed } : {}) };
};

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
  context: {
    ip: request.ip,
    user_agent: request.userAgent,
    ...contextAppOf(request),
    agent_id: admitted.capability.agentId,
    request_id: request.requestId,
  },
});
