/** Checks a presented key's secret, environment and expiry. */
import type { CredentialKey } from '@cardea/crypto';
import type { Clock } from '@cardea/runtime';
import { type KeySecret, recognise } from '../streams/key-secret.ts';

/** A key with valid format and checksum. Its stream tells whether it is live. */
export type OpaqueKey = Extract<CredentialKey, { kind: 'svc' | 'agk' }>;

const MS = 1_000;

type Kept = {
  readonly id: string;
  readonly environment: string;
  readonly expires_at: string | null;
  readonly secret: KeySecret;
};

/** `expiresAt` is in Unix seconds, or null for no expiry. Returns undefined if the key is not live. */
export function liveKey(
  { clock }: { readonly clock: Pick<Clock, 'now'> },
  presented: OpaqueKey,
  kept: Kept,
): { readonly expiresAt: number | null; readonly stamp: string } | undefined {
  const now = clock.now();
  const recognised = recognise(presented.secret, kept.secret, now);
  if (recognised === undefined || presented.environment !== kept.environment) return undefined;
  const ends = [kept.expires_at, recognised.until]
    .filter((end) => end !== null)
    .map((end) => new Date(end).getTime());
  if (ends.some((end) => end <= now.getTime())) return undefined;
  const expiresAt = ends.length === 0 ? null : Math.min(...ends) / MS;
  return { expiresAt, stamp: `${kept.id}.${recognised.stamp}` };
}
