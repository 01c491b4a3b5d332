/** What vends remember of services, policies and slots for a few seconds. */
import type { Clock } from '@cardea/runtime';
import { type Memo, memo } from '../../epochs.ts';
import type { PolicySet } from '../../policies/policies.module.ts';
import type { ServiceRecord } from '../../services/services.module.ts';
import type { Slot } from '../slot.ts';

export type VendMemos = {
  readonly services: Memo<ServiceRecord | undefined>;
  readonly policies: Memo<PolicySet>;
  readonly slots: Memo<Slot>;
};

export const vendMemos = (clock: Clock): VendMemos => ({
  services: memo<ServiceRecord | undefined>(clock),
  policies: memo<PolicySet>(clock),
  slots: memo<Slot>(clock),
});
