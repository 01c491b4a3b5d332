/** What processes remember of a changed set is old; the handler says so too, unless it died before. */
import type { Policy } from '@cardea/service';
import type { Vault } from '../vault.ts';

export const forgetOldPolicies = ({ epochs }: Pick<Vault, 'epochs'>): Policy => ({
  name: 'forget_old_policies',
  on: ['PolicyAdded', 'PolicyChanged', 'PolicyRemoved'],
  handle: (event) => epochs.changed(event.metadata.tenantId),
});
