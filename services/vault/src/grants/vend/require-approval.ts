/** Check 14 of a vend: whether an approval is required, of whom, and whether it was given. */
import type { ServiceDependencies } from '@cardea/service';
import { appOf } from '@cardea/service';
import type { IdentityFacts } from '../../identity-facts/identity-facts.ts';
import { approverOf, type NoApproverReason } from '../../policies/policies.module.ts';
import {
  type ApprovalRefusal,
  type Ask,
  consumeApproval,
  grantIdOf,
  openApproval,
  type Waiting,
} from './approval-client.ts';
import type { AuthorizedRequest } from './authorized-request.ts';

type ApprovalDependencies = Pick<ServiceDependencies, 'clock' | 'ids' | 'peers'> & {
  readonly facts: IdentityFacts;
};

export type Consumed = {
  readonly approval_id: string;
  readonly use_before: string;
  readonly again: boolean;
  /** The only grant that this approval issues. */
  readonly grantId: string;
};
export type Passed =
  | { readonly consumed: Consumed | undefined }
  | { readonly waiting: Waiting }
  | {
      readonly refused: ApprovalRefusal;
      readonly retryAfterSeconds?: number;
      readonly reason?: NoApproverReason;
    };

/**
 * `open` decrypts. It runs before the approval is consumed, so that no approval is consumed for a value that cannot be
 * decrypted.
 */
export async function requireApproval(
  vault: ApprovalDependencies,
  authorized: AuthorizedRequest,
  open: () => Promise<void>,
): Promise<Passed> {
  const { requirement, session, request } = authorized;
  if (requirement === undefined) {
    await open();
    return { consumed: undefined };
  }
  const approver = await approverOf(vault, session, requirement);
  if ('refused' in approver) return approver;
  const { approverId, set } = approver;
  const ask = askOf(authorized, { requirement, approverId, set, commandId: vault.ids.next() });
  const needs = { approval: vault.peers.approval, clock: vault.clock };
  const { approval_id: approvalId } = request.body;
  if (approvalId === undefined) {
    const opened = await openApproval(needs, ask);
    if ('consumed' in opened) throw new Error('an approval was used up before it was given');
    return opened;
  }
  await open();
  const grantId = grantIdOf(ask, approvalId);
  const used = await consumeApproval(needs, ask, { approvalId, grantId });
  if (!('consumed' in used)) return used;
  return { consumed: { approval_id: approvalId, ...used.consumed, grantId } };
}

const contextAppOf = (request: AuthorizedRequest['request']) => {
  const { appId, appClaimed } = appOf(request);
  return { app_id: appId ?? null, ...(appClaimed ? { app_claimed: appClaimed } : {}) };
};

const askOf = (
  { request, session, service, fields, snapshot, policyNames }: AuthorizedRequest,
  of: Pick<Ask, 'requirement' | 'approverId' | 'set' | 'commandId'>,
): Ask => ({
  ...of,
  tenantId: request.tenantId,
  agentId: session.capability.agentId,
  sessionId: session.capability.agentSessionId,
  userId: session.factsRequest.userId,
  service,
  fields,
  policies: snapshot.policies.map(({ id, version }) => {
    const name = policyNames.get(id);
    return name === undefined ? { id, version } : { id, version, name };
  }),
  purpose: session.capability.purpose,
  context: {
    ip: request.ip,
    user_agent: request.userAgent,
    ...contextAppOf(request),
    agent_id: session.capability.agentId,
    request_id: request.requestId,
  },
});
