/** A user withdraws one of their consents. A consent that is not active counts as unknown. */
import { accept, type Decision, refuse } from '@cardea/event-store';
import type { Consent, ConsentEvent } from '../consent.ts';

export function revokeConsent(
  { userId, now }: { readonly userId: string; readonly now: Date },
  consent: Consent,
): Decision<ConsentEvent, 'not_found'> {
  if (consent.status !== 'active' || consent.userId !== userId) return refuse('not_found');
  const { id, clientId: client_id, epoch } = consent;
  const data = { id, user_id: userId, client_id, epoch, at: now.toISOString() };
  return accept({ type: 'ConsentRevoked', data });
}
