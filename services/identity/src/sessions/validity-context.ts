/** What a session's validity depends on besides its own state, from its user's and tenant's streams. */

import type { UserPrincipal } from '@cardea/auth';
import type { Streams } from '@cardea/event-store';
import { exists, type KeptSession, type User } from '../accounts/accounts.module.ts';
import { sessions, type ValidityContext } from './session.ts';

/** The epoch of an active consent to an application that exists; else null. */
export type ConsentEpoch = (tenantId: string, consentId: string) => Promise<number | null>;

export const validityContextOf = (
  user: User,
  tenantActive: boolean,
  consentEpoch: number | null = null,
): ValidityContext => ({
  user: exists(user)
    ? { active: user.status === 'active', epoch: user.epoch, keepSid: user.keepSid }
    : { active: false, epoch: -1, keepSid: null },
  tenantActive,
  consentEpoch,
});

/** The caller's own session, unless it was ended by itself; the user's stream decides about the rest. */
export async function ownSession(
  streams: Streams,
  { id, tenantId, sessionId }: UserPrincipal,
  now: Date,
): Promise<KeptSession | null> {
  if (sessionId === null) return null;
  const { state } = await streams.load(sessions, { tenantId, id: sessionId });
  if (state.status === 'none' || state.user_id !== id) return null;
  if (state.revoked_at !== null || now >= new Date(state.expires_at)) return null;
  return { sid: sessionId, userEpoch: state.user_epoch };
}
