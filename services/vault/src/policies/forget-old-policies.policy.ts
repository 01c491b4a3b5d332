/**
 * Makes processes drop their cached policies after a change. The handler does this too, unless it crashed.
 */
import type { Recorded } from '@cardea/event-store';
import { policy } from '@cardea/service';
import type { Epochs } from '../epochs.ts';
import type { PolicyEvent } from './policy.ts';

export const forgetOldPolicies = ({ epochs }: { readonly epochs: Epochs }) => {
  const changed = ({ metadata }: Recorded<PolicyEvent>) => epochs.changed(metadata.tenantId);
  return policy<PolicyEvent>()({
    name: 'forget_old_policies',
    on: { PolicyAdded: changed, PolicyChanged: changed, PolicyRemoved: changed },
  });
};
