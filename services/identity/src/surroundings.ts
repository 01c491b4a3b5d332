/** What a session's life depends on beside itself, out of its user's and tenant's streams. */

import type { Surroundings } from './sessions/session.ts';
import { exists, type User } from './users/user.ts';

export const surroundingsOf = (user: User, tenantActive: boolean): Surroundings => ({
  user: exists(user)
    ? { active: user.status === 'active', epoch: user.epoch, keepSid: user.keepSid }
    : { active: false, epoch: -1, keepSid: null },
  tenantActive,
});
