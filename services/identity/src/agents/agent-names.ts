/** Reserves the names of agents. A name is unique within a tenant, regardless of its spelling. */
import type { Sealer } from '@cardea/crypto';
import { type Command, release, reserve, type Streams } from '@cardea/event-store';
import { uuidFrom } from '@cardea/runtime';
import { agentNameReservations } from '../streams/reservation.ts';
import { abandonAgent } from './agents/administer/administer.ts';
import { agents } from './agents/agent.ts';

export type AgentNames = {
  readonly hashOf: (tenantId: string, name: string) => Promise<string>;
  /** Whether this agent now has the name. */
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
      // A creation that never completed does not keep the name. First it is prevented from ever completing.
      const isOrphan = async (doubted: string): Promise<boolean> => {
        const own = { ...command, id: uuidFrom(command.id, 'abandon', doubted) };
        return (await streams.decideOn(agents, doubted, own, abandonAgent)).accepted;
      };
      const name = { stream: agentNameReservations, hash: nameHash };
      return (await reserve(streams, name, agentId, { command, isOrphan })).reserved;
    },
    release: (nameHash, agentId, command) =>
      release(streams, { stream: agentNameReservations, hash: nameHash }, agentId, command),
  };
}
