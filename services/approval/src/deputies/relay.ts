/** Publishes who decides in whose place, and when. */
import type { approvalEvents } from '@cardea/contracts';
import { relay } from '@cardea/event-bus';
import type { DeputyChanged } from './deputy.ts';

export const deputiesRelay = relay<DeputyChanged, typeof approvalEvents>({
  DeputyChanged: ({ data: { user_id, deputy, from, until } }) => ({
    type: 'deputy.changed',
    data: { user_id, deputy, from, until },
  }),
});
