/** Who has to answer a request that a policy requires. */
import type { IdentityFactsRequest } from '../identity-facts/fact-rows.ts';
import {
  type IdentityFacts,
  isDisabled,
  type KnownChanges,
} from '../identity-facts/identity-facts.ts';
import type { ApprovalRequirement } from './evaluate-policies.ts';

/** Why there is no approver, in cases that an administrator can correct. */
export type NoApproverReason = 'approver_not_vouched';
export const NOT_VOUCHED = { refused: 'NO_APPROVER', reason: 'approver_not_vouched' } as const;

type ApproverDependencies = { readonly facts: IdentityFacts };
type AskedFor = {
  readonly asked: IdentityFactsRequest;
  readonly changes: KnownChanges | undefined;
};

/**
 * The approver must be active and vouched for by the tenant, because anybody can register as a user of it.
 */
export async function approverOf(
  { facts }: ApproverDependencies,
  by: AskedFor,
  { approver }: Pick<ApprovalRequirement, 'approver'>,
): Promise<
  | { readonly approverId: string }
  | { readonly refused: 'NO_APPROVER'; readonly reason?: NoApproverReason }
> {
  const userId = await approverIdOf({ facts }, by, approver);
  if (userId === null) return { refused: 'NO_APPROVER' };
  const of = { tenantId: by.asked.tenantId, userId };
  const user = await facts.approver(of, by.changes);
  if (isDisabled(user?.status)) return { refused: 'NO_APPROVER' };
  return user?.vouched === true ? { approverId: userId } : NOT_VOUCHED;
}

async function approverIdOf(
  { facts }: ApproverDependencies,
  { asked, changes }: AskedFor,
  approver: ApprovalRequirement['approver'],
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
