/** Finds services by name: the name's reservation contains the id, and the id names the stream. */
import type { Sealer } from '@cardea/crypto';
import {
  type Command,
  type Decided,
  type Decision,
  release,
  reservation,
  reserve,
  type Streams,
} from '@cardea/event-store';
import { type Service, type ServiceEvent, type ServiceRecord, services } from './service.ts';

export interface Catalog {
  byName(tenantId: string, name: string): Promise<ServiceRecord | undefined>;
  byId(tenantId: string, id: string): Promise<Service>;
  /** Returns false if the name belongs to another service. */
  claim(name: string, id: string, command: Command): Promise<boolean>;
  release(name: string, id: string, command: Command): Promise<void>;
  /** Decides on the service with this name. Returns undefined if there is none. */
  decide<Reason extends string, E extends ServiceEvent>(
    name: string,
    command: Command,
    decide: (service: Service) => Decision<E, Reason>,
  ): Promise<Decided<Service, ServiceEvent, Reason> | undefined>;
}

export const names = reservation('servicename');

export function catalog({
  streams,
  sealer,
}: {
  readonly streams: Streams;
  readonly sealer: Sealer;
}): Catalog {
  const hashOf = (tenantId: string, name: string) =>
    sealer.indexHash({ tenantId }, 'servicename', name);
  const holderOf = async (tenantId: string, name: string): Promise<string | undefined> => {
    const id = await hashOf(tenantId, name);
    const { state } = await streams.load(names, { tenantId, id });
    return state.status === 'held' ? state.ownerId : undefined;
  };
  const byId = async (tenantId: string, id: string): Promise<Service> =>
    (await streams.load(services, { tenantId, id })).state;
  const nameOf = async (tenantId: string, name: string) => ({
    stream: names,
    hash: await hashOf(tenantId, name),
  });
  return {
    byId,
    byName: async (tenantId, name) => {
      const id = await holderOf(tenantId, name);
      if (id === undefined) return undefined;
      const service = await byId(tenantId, id);
      return service.status === 'registered' ? service.record : undefined;
    },
    claim: async (name, id, command) => {
      const { tenantId } = command.metadata;
      const isOrphan = async (owner: string) =>
        (await byId(tenantId, owner)).status !== 'registered';
      const value = await nameOf(tenantId, name);
      return (await reserve(streams, value, id, { command, isOrphan })).reserved;
    },
    release: async (name, id, command) =>
      release(streams, await nameOf(command.metadata.tenantId, name), id, command),
    decide: async (name, command, decide) => {
      const id = await holderOf(command.metadata.tenantId, name);
      if (id === undefined) return undefined;
      return streams.decideOn(services, id, command, decide);
    },
  };
}
