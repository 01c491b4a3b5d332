/** A proof that cannot be guessed ends the blocks that other people's guesses caused on an account. */
import type { Command, Streams } from '@cardea/event-store';
import { uuidFrom } from '@cardea/runtime';
import type { ExistingUser } from '../../accounts/accounts.module.ts';
import { signins } from '../../streams/signin.ts';
import { openBlocks, type Proven } from './lockout.ts';

export async function endBlocks(
  { streams }: { readonly streams: Streams },
  of: {
    readonly user: Pick<ExistingUser, 'id' | 'emailHash'>;
    readonly proof: Proven['by'] | undefined;
  },
  command: Command,
): Promise<void> {
  const { user, proof } = of;
  if (proof === undefined) return;
  const { now, metadata } = command;
  const { state } = await streams.load(signins, {
    tenantId: metadata.tenantId,
    id: user.emailHash,
  });
  const proven = { userId: user.id, by: proof, now };
  if (openBlocks(proven, state).events.length === 0) return;
  const own = { ...command, id: uuidFrom(command.id, 'blocks ended') };
  await streams.decideOn(signins, user.emailHash, own, (signin) => openBlocks(proven, signin));
}
