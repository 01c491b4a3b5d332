/** Publishes that an administrator acts as a member, and why. */
import type { identityEvents } from '@cardea/contracts';
import { relay } from '@cardea/event-bus';
import type { ImpersonationEvent } from './impersonation.ts';

export const impersonationsRelay = relay<ImpersonationEvent, typeof identityEvents>({
  ImpersonationStarted: ({ data: { user_id: id, admin_id, reason } }) => ({
    type: 'user.impersonated',
    data: { id, admin_id, reason },
  }),
});
