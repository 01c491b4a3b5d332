/** Revokes a machine's tokens again, if the append that revoked them took too long. */
import type { Command } from '@cardea/event-store';
import { uuidFrom } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import { endLaterTokens } from '../../../streams/tokens-before.ts';
import { type ApplicationEvent, applications } from '../application.ts';
import { endMachineTokens } from './administer.ts';

export async function endLateTokens(
  { streams, clock }: Pick<ServiceDependencies, 'clock' | 'streams'>,
  id: string,
  command: Command,
  events: readonly ApplicationEvent[],
): Promise<bigint | undefined> {
  const first = tokensBeforeIn(events);
  if (first === undefined) return undefined;
  return endLaterTokens(clock, first, async (tokensBefore, round) => {
    const own = { ...command, id: uuidFrom(command.id, 'end tokens', String(round)) };
    const decided = await streams.decideOn(applications, id, own, (application) =>
      endMachineTokens(tokensBefore, application),
    );
    return { tokensBefore: tokensBeforeIn(decided.events), position: decided.position };
  });
}

const tokensBeforeIn = (events: readonly ApplicationEvent[]): number | undefined =>
  events
    .flatMap(({ type, data }) =>
      type === 'ApplicationChanged' || type === 'ClientSecretRotated'
        ? (data.tokens_before ?? [])
        : [],
    )
    .at(-1);
