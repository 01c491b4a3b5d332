/** What other services hear of second factors; the account's own events say which of them count. */
import type { identityEvents } from '@cardea/contracts';
import { relay } from '@cardea/event-bus';
import type { FactorEvent } from './factors/factor.ts';

export const factorsRelay = relay<FactorEvent, typeof identityEvents>({
  FactorEnrolled: ({ data: { id: factor_id, user_id: id, type } }) =>
    type === 'totp'
      ? { type: 'user.factor_changed', data: { id, factor_id, type, change: 'enrolled' } }
      : undefined,
});
