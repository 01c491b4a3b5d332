import { accept, type Decision, refuse } from '@cardea/event-store';
import type { PolicyRemoved, PolicySet } from '../policy.ts';

export function removePolicy(
  id: string,
  policies: PolicySet,
): Decision<PolicyRemoved, 'policy_not_found'> {
  const policy = policies.find((each) => each.id === id);
  if (policy === undefined) return refuse('policy_not_found');
  return accept({
    type: 'PolicyRemoved',
    data: { policy, policies: policies.filter((each) => each.id !== id) },
  });
}
