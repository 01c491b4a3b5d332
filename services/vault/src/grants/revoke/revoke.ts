import { accept, type Decision } from '@cardea/event-store';
import type { GrantKeyState, GrantRevoked } from '../grant-key.ts';

export type Revoke = { readonly grantId: string; readonly cause: string; readonly now: Date };

/** A superseded grant can be revoked too; the current grant of the key is then left as it is. */
export function revokeGrant(
  { grantId, cause, now }: Revoke,
  slot: GrantKeyState,
): Decision<GrantRevoked, never> {
  if (slot.status === 'empty') return accept();
  const { held } = slot;
  const isHeld = held.grant_id === grantId;
  if (isHeld && held.revoked_at !== null) return accept();
  const ended_at = now.toISOString();
  const revoked_at = isHeld ? ended_at : held.revoked_at;
  const data = { ...held, revoked_at, revoked_grant_id: grantId, cause, ended_at };
  return accept({ type: 'GrantRevoked', data });
}
