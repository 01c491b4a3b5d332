/** What vends cache of services, policies and grant keys for a few seconds. */
import type { Clock } from '@cardea/runtime';
import { type SnapshotCache, snapshotCache } from '../../epochs.ts';
import type { PolicySet } from '../../policies/policies.module.ts';
import type { ServiceRecord } from '../../services/services.module.ts';
import type { GrantKeyState } from '../grant-key.ts';

export type VendCaches = {
  readonly services: SnapshotCache<ServiceRecord | undefined>;
  readonly policies: SnapshotCache<PolicySet>;
  readonly slots: SnapshotCache<GrantKeyState>;
};

export const vendCaches = (clock: Clock): VendCaches => ({
  services: snapshotCache<ServiceRecord | undefined>(clock),
  policies: snapshotCache<PolicySet>(clock),
  slots: snapshotCache<GrantKeyState>(clock),
});
