/** What register and sign-up answer to an address that is taken, and how they hide that it is. */
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

/** What tells nothing: the address may have been taken. */
export const CHECK_YOUR_EMAIL = 'check your email to complete registration' as const;
export const CheckYourEmail = named(
  'CheckYourEmail',
  closed({ status: Type.Literal(CHECK_YOUR_EMAIL), user_id: Type.Literal('') }),
);

/** The id that a taken registration drew is nobody's, so nobody acted. */
export const unnamed = (command: Command): Command => ({
  ...command,
  metadata: { ...command.metadata, actor: { type: 'system', id: 'identity' } },
});

/**
 * The answer to a repeat under the same `Idempotency-Key`: the same whether the first request made an account
 * or met a taken address.
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

/** As many appends as a success makes, each awaited like one of those. */
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
