/** Publishes the events of approval policies. */
import type { vaultEvents } from '@cardea/contracts';
import { relay } from '@cardea/event-bus';
import type { Policy, PolicyEvent } from './policy.ts';

export const policiesRelay = relay<PolicyEvent, typeof vaultEvents>({
  PolicyAdded: ({ data }) => ({ type: 'vault.policy.added', data: termsOf(data.policy) }),
  PolicyChanged: ({ data }) => ({ type: 'vault.policy.changed', data: termsOf(data.policy) }),
  PolicyRemoved: ({ data }) => ({ type: 'vault.policy.removed', data: termsOf(data.policy) }),
});

const termsOf = ({ id, version, service_name, effect }: Policy) => ({
  policy_id: id,
  version,
  service: service_name,
  effect,
});
