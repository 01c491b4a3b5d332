/** Ends one session of a user, for any caller. */
import type { Command, Streams } from '@cardea/event-store';
import type { User } from '../../accounts/accounts.module.ts';
import { type RevocationReason, sessions } from '../session.ts';
import { type ConsentEpoch, validityContextOf } from '../validity-context.ts';
import { revokeSession } from './revoke-session.ts';

/** Ends a session for its own user. Returns `not_found` if the session belongs to another user or is not alive. */
export async function revokeOne(
  { streams, consentEpoch }: { readonly streams: Streams; readonly consentEpoch: ConsentEpoch },
  of: {
    readonly tenantId: string;
    readonly userId: string;
    readonly user: User;
    readonly sid: string;
    readonly reason: RevocationReason;
  },
  command: Command,
) {
  const { tenantId, userId, user, sid, reason } = of;
  const { state } = await streams.load(sessions, { tenantId, id: sid });
  const consentId = state.status === 'none' ? null : state.consent_id;
  const epoch = consentId === null ? null : await consentEpoch(tenantId, consentId);
  const validity = validityContextOf(user, true, epoch);
  return await streams.decideOn(sessions, sid, command, (session) =>
    revokeSession({ userId, reason, now: command.now, validity }, session),
  );
}
