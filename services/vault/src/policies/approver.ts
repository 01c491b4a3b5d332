/** Determines who has to answer a request that a policy requires. */
import { type ApproverSet, printApproverSet } from '@cardea/contracts';
import type { IdentityFactsRequest } from '../identity-facts/fact-rows.ts';
import type { KnownChanges } from '../identity-facts/facts-cache.ts';
import { type IdentityFacts, isDisabled } from '../identity-facts/identity-facts.ts';
import type { ApprovalRequirement } from './evaluate-policies.ts';
import type { PolicyTerms } from './policy.ts';

/** Why there is no approver, in cases that an administrator can correct. */
export type NoApproverReason =
  | 'approver_not_vouched'
  | 'too_many'
  | 'nobody_holds'
  | 'approver_lost';
type PolicyReason = 'approver_not_vouched' | 'nobody_holds';
export const NOT_VOUCHED = { refused: 'NO_APPROVER', reason: 'approver_not_vouched' } as const;

/** Whether everybody whom the terms name in person is a user of the tenant. */
export async function namesKnownUsers(
  facts: Pick<IdentityFacts, 'isKnownApprover'>,
  tenantId: string,
  { approver, escalate }: Pick<Partial<PolicyTerms>, 'approver' | 'escalate'>,
): Promise<boolean> {
  const named = [approver, escalate?.approver].filter((each) => each !== undefined);
  const known = named.map((each) => facts.isKnownApprover(tenantId, each));
  return (await Promise.all(known)).every((isKnown) => isKnown);
}

type ApproverDependencies = { readonly facts: IdentityFacts };
type ApproverLookup = {
  readonly factsRequest: IdentityFactsRequest;
  readonly changes: KnownChanges | undefined;
};

/**
 * The approver must be active. Unless the policies allow otherwise, an administrator must vouch for the approver,
 * because with open registration anybody can become a user of the tenant.
 */
export async function approverOf(
  { facts }: ApproverDependencies,
  by: ApproverLookup,
  requirement: Pick<
    ApprovalRequirement,
    'approver' | 'approver_vouched' | 'approvals_needed' | 'exclude_session_user'
  >,
): Promise<
  | { readonly approverId: string; readonly set?: ApproverSet }
  | { readonly refused: 'NO_APPROVER'; readonly reason?: PolicyReason }
> {
  const { approver } = requirement;
  // Approval looks up the members of a set when the request is made and again when a person decides.
  if (typeof approver === 'object' && !('user_id' in approver)) {
    return { approverId: printApproverSet(approver), set: approver };
  }
  const userId = await approverIdOf({ facts }, by, approver);
  if (userId === null) return { refused: 'NO_APPROVER' };
  const isExcluded = requirement.exclude_session_user && userId === by.factsRequest.userId;
  if (isExcluded || requirement.approvals_needed > 1) {
    return { refused: 'NO_APPROVER', reason: 'nobody_holds' };
  }
  const of = { tenantId: by.factsRequest.tenantId, userId };
  const user = await facts.approver(of, by.changes);
  if (isDisabled(user?.status)) return { refused: 'NO_APPROVER' };
  return user?.vouched === true || !requirement.approver_vouched
    ? { approverId: userId }
    : NOT_VOUCHED;
}

async function approverIdOf(
  { facts }: ApproverDependencies,
  { factsRequest, changes }: ApproverLookup,
  approver: Exclude<ApprovalRequirement['approver'], ApproverSet>,
): Promise<string | null> {
  switch (approver) {
    case 'nobody':
      return null;
    case 'session_user':
      return factsRequest.userId;
    case 'agent_owner':
      return facts.ownerOf(factsRequest, changes);
  }
  return approver.user_id;
}
