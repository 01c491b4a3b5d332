/** Limits and checks for clients that have not authenticated. */
import { networkOf } from '@cardea/http';
import type { Charge, ServiceDependencies } from '@cardea/service';
import type {
  ClientFailure,
  LimitedRoute,
  Message,
  Ports,
} from '../../adapters/authorization-ports.ts';
import { LIMITS } from '../../http/limits.ts';
import type { ClientDocuments } from '../client-documents/client-documents.ts';
import type { RecordClientFailure } from '../client-failures/record-client-failure.ts';
import { requestOf } from './requests.ts';

type StrangerDependencies = Pick<ServiceDependencies, 'limits'> & {
  readonly clientDocuments: ClientDocuments;
  readonly recordClientFailure: RecordClientFailure;
};

const KIB = 1024;
const BY_NAME = { token: LIMITS.tokensByName, par: LIMITS.parByName, device: LIMITS.deviceByName };
const BY_CLIENT = {
  token: LIMITS.tokensByClient,
  par: LIMITS.parByClient,
  device: LIMITS.deviceByClient,
};

export function strangerPorts(needs: StrangerDependencies) {
  // The library looks a refused client up a second time, which must not be counted again.
  const tried = new WeakSet<Message>();
  // The library looks up the client of a pushed request or a device request twice. Both count as one request.
  const named = new WeakMap<Message, string>();
  return {
    fetchDocument: needs.clientDocuments.fetch,
    admitsDocument: async (message: Message) => {
      if (tried.has(message)) return false;
      tried.add(message);
      const { ip } = requestOf(message);
      return (await needs.limits.take([LIMITS.clientDocumentsByIp, ip])).allowed;
    },
    documentTenant: async (resource: string) =>
      (await needs.clientDocuments.tenantOf(resource))?.id,
    admits: async (message: Message, clientId: string, to: LimitedRoute) => {
      if (named.get(message) === clientId) return true;
      named.set(message, clientId);
      const network = networkOf(requestOf(message).ip);
      return (await needs.limits.take([BY_NAME[to], `${clientId} ${network}`])).allowed;
    },
    admitsProven: async (clientId: string, to: LimitedRoute) =>
      (await needs.limits.take([BY_CLIENT[to], clientId])).allowed,
    tryUserCode: async <Found>(message: Message, find: () => Promise<Found | undefined>) => {
      const misses = [[LIMITS.userCodeFailuresByIp, requestOf(message).ip]] as const;
      const tried = await needs.limits.attempt(misses, find, (found) => found !== undefined);
      return tried.allowed ? tried.answer : 'too_many';
    },
    admitsArtifact: async (
      message: Message,
      of: { readonly tenantId: string | undefined; readonly bytes: number },
    ) => {
      const size = Math.ceil(of.bytes / KIB);
      const byIp: Charge = [LIMITS.artifactKibByIp, requestOf(message).ip, size];
      const { tenantId } = of;
      const byTenant: readonly Charge[] =
        tenantId === undefined ? [] : [[LIMITS.artifactKibByTenant, tenantId, size]];
      return (await needs.limits.take(byIp, ...byTenant)).allowed;
    },
    clientFailed: (message: Message, failure: ClientFailure) =>
      needs.recordClientFailure(requestOf(message), failure),
  } satisfies Partial<Ports>;
}
