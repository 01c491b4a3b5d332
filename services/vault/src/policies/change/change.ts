import { accept, type Decision, refuse } from '@cardea/event-store';
import type { Policy, PolicyChanged, PolicySet, PolicyTerms } from '../policy.ts';

export type ChangePolicy = {
  readonly id: string;
  readonly terms: Partial<PolicyTerms>;
  readonly now: Date;
};

/** A change creates a new version, so that grants issued under the old one are not reused. */
export function changePolicy(
  { id, terms, now }: ChangePolicy,
  policies: PolicySet,
): Decision<PolicyChanged, 'policy_not_found'> {
  const before = policies.find((policy) => policy.id === id);
  if (before === undefined) return refuse('policy_not_found');
  const same = Object.entries(terms).every(
    ([key, value]) => JSON.stringify(value) === JSON.stringify(before[key as keyof Policy]),
  );
  if (same) return accept();
  const policy: Policy = {
    ...before,
    ...terms,
    version: before.version + 1,
    updated_at: now.toISOString(),
  };
  return accept({
    type: 'PolicyChanged',
    data: { policy, policies: policies.map((each) => (each.id === id ? policy : each)) },
  });
}
