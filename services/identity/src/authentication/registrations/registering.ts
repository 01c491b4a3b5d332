/** What register and sign-up have in common: what a taken address is answered, and what a repeat is. */
import type { Command } from '@cardea/event-store';
import type { Request } from '@cardea/http';
import { uuidFrom } from '@cardea/runtime';
import { exists } from '../../accounts/users/user.ts';
import type { Identity } from '../../identity.ts';
import { registrationRefused, registrations } from './registration.ts';

/** What tells nothing: the address may have been taken. */
export const CHECK_YOUR_EMAIL = 'check your email to complete registration' as const;

/** The id that a taken registration drew is nobody's, so nobody acted. */
export const unnamed = (command: Command): Command => ({
  ...command,
  metadata: { ...command.metadata, actor: { type: 'system', id: 'identity' } },
});

/** As many appends as a success makes, each awaited like one of those. */
export async function pad({ streams }: Identity, command: Command, parts: number): Promise<void> {
  const own = unnamed(command);
  for (let part = 1; part <= parts; part += 1) {
    const step = { ...own, id: uuidFrom(command.id, 'refused', String(part)) };
    await streams.decideOn(registrations, command.id, step, () => registrationRefused(part));
  }
}

/** The answer to a repeat under the same Idempotency-Key; tokens are shown once. */
export async function repeated(
  identity: Identity,
  request: Request<unknown, unknown, unknown>,
  { tenantId, userId }: { readonly tenantId: string; readonly userId: string },
) {
  if (request.idempotency === undefined) return undefined;
  const user = await identity.people.byId(tenantId, userId);
  // It was made, and is gone: the key of an erased person seals nothing any more.
  return user.status === 'deleted' || exists(user) ? alreadyCreated(userId) : undefined;
}

export const alreadyCreated = (id: string) =>
  ({ refused: 'already_created', details: { id } }) as const;
