/**
 * Vault and approval keep copies of who may approve: before the caller who changed that is answered, they
 * are told that theirs may be too old.
 */
import type { Revocations } from '@cardea/auth';
import type { UserEvent } from './user.ts';

/** What each changes of who may approve; false: it takes nothing away. */
const NARROWS: { readonly [type: string]: boolean | undefined } = {
  UserVouched: false,
  VouchWithdrawn: true,
  UserEnabled: false,
  UserDisabled: true,
  UserDeleted: true,
};

export async function tellChanged(
  { revocations }: { readonly revocations: Pick<Revocations, 'changed'> },
  { tenantId, userId }: { readonly tenantId: string; readonly userId: string },
  decided: {
    readonly events: readonly Pick<UserEvent, 'type'>[];
    readonly position: bigint | undefined;
  },
): Promise<void> {
  const { position } = decided;
  const changes = decided.events.flatMap(({ type }) => NARROWS[type] ?? []);
  if (position === undefined || changes.length === 0) return;
  const narrows = changes.includes(true);
  await revocations.changed({ tenantId, kind: 'user', id: userId, position, narrows });
}
