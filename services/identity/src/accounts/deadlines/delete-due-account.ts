/** Deletes an account on its day. The last administrator is not deleted, but gets a mail that says what to do. */
import type { Command } from '@cardea/event-store';
import { uuidFrom } from '@cardea/runtime';
import { type DecideDependencies, decideOnUser } from '../users/administer/decide-on-user.ts';
import { cancelDeletion, deleteOnTheDay } from '../users/delete-account/delete-account.ts';
import { users } from '../users/user.ts';

export type DeleteDueDependencies = DecideDependencies;

export async function deleteDueAccount(
  needs: DeleteDueDependencies,
  of: { readonly tenantId: string; readonly userId: string },
  command: Command,
): Promise<void> {
  const { now } = command;
  const decided = await decideOnUser(needs, of, command, ({ mayLeave }, user) =>
    deleteOnTheDay({ mayLeave, now }, user),
  );
  if (decided.done || decided.reason !== 'last_admin') return;
  const own = { ...command, id: uuidFrom(command.id, 'last administrator') };
  await needs.streams.decideOn(users, of.userId, own, (user) =>
    cancelDeletion({ by: 'system', now }, user),
  );
}
