/** A passkey: its public key, and its authenticator's counter of uses. */
import type { Sealed } from '@cardea/crypto';
import { accept, type Decision, refuse } from '@cardea/event-store';
import type { Factor, FactorEvent, PasskeyFacts } from '../factor.ts';

export type EnrolPasskey = Pick<
  PasskeyFacts,
  'id' | 'user_id' | 'name' | 'credential' | 'counter' | 'device_type' | 'backed_up'
> & { readonly now: Date };

/** A credential belongs to one person, so its id names the stream. */
export function enrolPasskey(
  { now, ...passkey }: EnrolPasskey,
  factor: Factor,
): Decision<FactorEvent, 'already_created'> {
  if (factor.type !== 'none') return refuse('already_created');
  return accept({
    type: 'FactorEnrolled',
    data: { ...passkey, type: 'passkey', enrolled_at: now.toISOString(), last_used_at: null },
  });
}

/** If a counter did not rise, the passkey was probably cloned. Synchronized passkeys have no counter and send 0. */
export function usePasskey(
  {
    userId,
    counter,
    backedUp: backed_up,
    now,
  }: {
    readonly userId: string;
    readonly counter: number;
    readonly backedUp: boolean;
    readonly now: Date;
  },
  factor: Factor,
): Decision<FactorEvent, 'not_found' | 'copied'> {
  if (factor.type !== 'passkey' || factor.user_id !== userId) return refuse('not_found');
  if (counter > 0 && factor.counter > 0 && counter <= factor.counter) return refuse('copied');
  const last_used_at = now.toISOString();
  return accept({ type: 'FactorUsed', data: { ...factor, counter, backed_up, last_used_at } });
}

export function renameFactor(
  { userId, name }: { readonly userId: string; readonly name: Sealed | null },
  factor: Factor,
): Decision<FactorEvent, 'not_found'> {
  if (factor.type === 'none' || factor.user_id !== userId) return refuse('not_found');
  return accept({ type: 'FactorRenamed', data: { ...factor, name } });
}
