/** Reads from the user's and the tenant's streams what a session's validity depends on besides its own state. */

import type { UserPrincipal } from '@cardea/auth';
import type { Streams } from '@cardea/event-store';
import { type KeptSession, type User, userNow } from '../accounts/accounts.module.ts';
import { sessions, type ValidityContext } from './session.ts';

/** The epoch of an active consent to an existing application; otherwise null. */
export type ConsentEpoch = (tenantId: string, consentId: string) => Promise<number | null>;

export const validityContextOf = (
  user: User,
  tenantActive: boolean,
  consentEpoch: number | null = null,
): ValidityContext => ({
  user: userNow(user),
  tenantActive,
  consentEpoch,
});

/** The caller's own session, unless it was ended. The user's stream decides about the rest. */
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
