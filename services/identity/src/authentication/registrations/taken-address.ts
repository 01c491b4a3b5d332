/** The responses of register and sign-up for a taken address, and how they hide that it is taken. */
import { named } from '@cardea/contracts';
import type { Command } from '@cardea/event-store';
import type { Request } from '@cardea/http';
import { uuidFrom } from '@cardea/runtime';
import { alreadyCreated, type ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { repeatedCreation, type UserDirectory } from '../../accounts/accounts.module.ts';
import { closed } from '../../http/answers.ts';
import { registrationRefused, registrations } from './registration.ts';

type Dependencies = Pick<ServiceDependencies, 'streams'>;

/** A status that reveals nothing: the address may have been taken. */
export const CHECK_YOUR_EMAIL = 'check your email to complete registration' as const;
export const CheckYourEmail = named(
  'CheckYourEmail',
  closed({ status: Type.Literal(CHECK_YOUR_EMAIL), user_id: Type.Literal('') }),
);

/** Removes the actor. The id that was generated for a taken registration belongs to no user. */
export const unnamed = (command: Command): Command => ({
  ...command,
  metadata: { ...command.metadata, actor: { type: 'system', id: 'identity' } },
});

/**
 * The response to a repeat under the same `Idempotency-Key`. It is the same whether the first request created an
 * account or found a taken address.
 */
export async function repeatedRegistration(
  needs: Dependencies & { readonly userDirectory: Pick<UserDirectory, 'byId'> },
  request: Request<unknown, unknown, unknown>,
  of: { readonly tenantId: string; readonly userId: string },
) {
  if (request.idempotency === undefined) return undefined;
  const [made, refused] = await Promise.all([
    repeatedCreation(needs, request, of),
    needs.streams.find(registrations, request.commandId),
  ]);
  return made ?? (refused === undefined ? undefined : alreadyCreated(of.userId));
}

/** Makes as many appends as a success does, and awaits each of them as a success does. */
export async function pad(
  { streams }: Dependencies,
  command: Command,
  parts: number,
): Promise<void> {
  const own = unnamed(command);
  for (let part = 1; part <= parts; part += 1) {
    const step = { ...own, id: uuidFrom(command.id, 'refused', String(part)) };
    await streams.decideOn(registrations, command.id, step, {
      isNew: true,
      decide: () => registrationRefused(part),
    });
  }
}
