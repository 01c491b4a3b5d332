import { accept, type Decision } from '@cardea/event-store';
import type { GrantKeyState, GrantRevoked } from '../grant-key.ts';

export type Revoke = { readonly grantId: string; readonly cause: string; readonly now: Date };

/** Revokes a grant. A superseded grant can be revoked too; the current grant of the key is then unchanged. */
export function revokeGrant(
  { grantId, cause, now }: Revoke,
  grantKey: GrantKeyState,
): Decision<GrantRevoked, never> {
  if (grantKey.status === 'empty') return accept();
  const { current } = grantKey;
  const isCurrent = current.grant_id === grantId;
  if (isCurrent && current.revoked_at !== null) return accept();
  const ended_at = now.toISOString();
  const revoked_at = isCurrent ? ended_at : current.revoked_at;
  const data = { ...current, revoked_at, revoked_grant_id: grantId, cause, ended_at };
  return accept({ type: 'GrantRevoked', data });
}
