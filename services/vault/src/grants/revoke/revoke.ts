import { accept, type Decision } from '@cardea/event-store';
import type { GrantKeyState, GrantRevoked } from '../grant-key.ts';

export type Revoke = { readonly grantId: string; readonly cause: string; readonly now: Date };

/** A grant that was superseded can be revoked too; what the slot holds is left as it is then. */
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
