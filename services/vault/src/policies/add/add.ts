import { accept, type Decision, refuse } from '@cardea/event-store';
import {
  POLICIES_MAX,
  type Policy,
  type PolicyAdded,
  type PolicySet,
  type PolicyTerms,
} from '../policy.ts';

export type AddPolicy = {
  readonly id: string;
  readonly terms: PolicyTerms;
  readonly request_hash: string | null;
  readonly now: Date;
};

export function addPolicy(
  { id, terms, request_hash, now }: AddPolicy,
  policies: PolicySet,
): Decision<PolicyAdded, 'too_many_policies'> {
  if (policies.some((policy) => policy.id === id)) return accept();
  if (policies.length >= POLICIES_MAX) return refuse('too_many_policies');
  const at = now.toISOString();
  const policy: Policy = {
    id,
    version: 1,
    ...terms,
    created_at: at,
    updated_at: at,
    request_hash,
  };
  return accept({ type: 'PolicyAdded', data: { policy, policies: [...policies, policy] } });
}
