/** Publishes events about second factors. The account's own events tell which factors it has. */
import type { identityEvents } from '@cardea/contracts';
import { relay } from '@cardea/event-bus';
import type { FactorEvent } from './factors/factor.ts';

export const factorsRelay = relay<FactorEvent, typeof identityEvents>({
  FactorEnrolled: ({ data: { id: factor_id, user_id: id, type } }) =>
    type === 'totp'
      ? { type: 'user.factor_changed', data: { id, factor_id, type, change: 'enrolled' } }
      : undefined,
});
