/** An agent's name is its own within a tenant, however it is spelled. */
import type { Sealer } from '@cardea/crypto';
import type { Command, Streams } from '@cardea/event-store';
import { uuidFrom } from '@cardea/runtime';
import { agentNameReservations, doubtedOwner, release, reserve } from '../streams/reservation.ts';
import { abandonAgent } from './agents/administer/administer.ts';
import { agents } from './agents/agent.ts';

export type AgentNames = {
  readonly hashOf: (tenantId: string, name: string) => Promise<string>;
  /** Whether the name is this agent's now. */
  readonly hold: (nameHash: string, agentId: string, command: Command) => Promise<boolean>;
  readonly release: (nameHash: string, agentId: string, command: Command) => Promise<void>;
};

export function agentNames(needs: {
  readonly streams: Streams;
  readonly sealer: Sealer;
}): AgentNames {
  const { streams, sealer } = needs;
  return {
    hashOf: (tenantId, name) =>
      sealer.indexHash({ tenantId }, 'agent name', name.normalize('NFKC').toLowerCase()),
    hold: async (nameHash, agentId, command) => {
      const { now } = command;
      const first = await streams.decideOn(agentNameReservations, nameHash, command, (held) =>
        reserve({ ownerId: agentId, now }, held),
      );
      if (first.accepted) return true;
      const doubted = doubtedOwner(first.state, now);
      if (doubted === undefined) return false;
      // A making that stopped half way keeps no name: first it is barred from being finished.
      const burial = { ...command, id: uuidFrom(command.id, 'abandon', doubted) };
      if (!(await streams.decideOn(agents, doubted, burial, abandonAgent)).accepted) return false;
      const again = { ...command, id: uuidFrom(command.id, 'take over', doubted) };
      const second = await streams.decideOn(agentNameReservations, nameHash, again, (held) =>
        reserve({ ownerId: agentId, now, orphan: doubted }, held),
      );
      return second.accepted;
    },
    release: async (nameHash, agentId, command) => {
      const own = { ...command, id: uuidFrom(command.id, 'release', nameHash) };
      await streams.decideOn(agentNameReservations, nameHash, own, (held) =>
        release(agentId, held),
      );
    },
  };
}
