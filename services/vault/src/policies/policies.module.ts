/** Approval policies: which vends need an approval, and whose. */
import type { Module, ServiceDependencies } from '@cardea/service';
import type { Epochs } from '../epochs.ts';
import type { IdentityFacts } from '../identity-facts/identity-facts.ts';
import { addPolicyRoute } from './add/add.route.ts';
import { changePolicyRoute } from './change/change.route.ts';
import { evaluatePoliciesRoute } from './evaluate/evaluate.route.ts';
import { forgetOldPolicies } from './forget-old-policies.policy.ts';
import { getPolicyRoute, listPoliciesRoute } from './list/list.route.ts';
import { policySets } from './policy.ts';
import { policiesRelay } from './relay.ts';
import { removePolicyRoute } from './remove/remove.route.ts';

export { approverOf, NOT_VOUCHED, type NoApproverReason } from './approver.ts';
export {
  type ApprovalRequirement,
  evaluatePolicies,
  type PolicyVersion,
} from './evaluate-policies.ts';
export { type PolicySet, policySets } from './policy.ts';
export { policyFindings } from './policy-findings.ts';
export { PolicyVersionShape } from './policy-shape.ts';

export type PoliciesDependencies = Pick<
  ServiceDependencies,
  'streams' | 'command' | 'ids' | 'peers' | 'clock'
> & {
  readonly epochs: Epochs;
  readonly facts: IdentityFacts;
};

export const policiesModule = (needs: PoliciesDependencies): Module => ({
  endpoints: [
    addPolicyRoute(needs),
    listPoliciesRoute(needs),
    evaluatePoliciesRoute(needs),
    getPolicyRoute(needs),
    changePolicyRoute(needs),
    removePolicyRoute(needs),
  ],
  relay: policiesRelay,
  policies: [forgetOldPolicies(needs)],
});

export const policiesStreams = [policySets];
