/** Records when a key was last used, at most once in ten minutes. */
import { accept, type Decision, type Stream } from '@cardea/event-store';

export const USE_REPORTED_EVERY_MS = 10 * 60_000;

export type KeyUsed = {
  readonly type: 'KeyUsed';
  readonly concerns?: 'agent_keys' | 'api_keys';
  readonly data: { readonly id: string; readonly kind: 'svc' | 'agk'; readonly used_at: string };
};
export type KeyUse = { readonly usedAt: string | null };

export const keyUses: Stream<KeyUse, KeyUsed> = {
  noun: 'keyuse',
  initial: { usedAt: null },
  stateCarrying: true,
  evolve: (_before, { data }) => ({ usedAt: data.used_at }),
};

export function noteUse(
  { id, kind, now }: { readonly id: string; readonly kind: 'svc' | 'agk'; readonly now: Date },
  { usedAt }: KeyUse,
): Decision<KeyUsed, never> {
  const isFresh =
    usedAt !== null && now.getTime() - new Date(usedAt).getTime() < USE_REPORTED_EVERY_MS;
  return isFresh
    ? accept()
    : accept({ type: 'KeyUsed', data: { id, kind, used_at: now.toISOString() } });
}
