/**
 * A fake of EventStoreDB at the protocol level: an in-memory gRPC server on the service descriptors of the client
 * package. The real client communicates with it as with the real server.
 */

import { ServerFeaturesService } from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import features from '@eventstore/db-client/generated/serverfeatures_pb.js';
import { StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { DeleteReq } from '@eventstore/db-client/generated/streams_pb.js';
import {
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServiceError,
  type sendUnaryData,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { failure } from './fake-event-store-protocol.ts';
import { type Drop, type ReadCall, read } from './fake-event-store-reading.ts';
import { type Records, records } from './fake-event-store-records.ts';
import {
  type AppendCall,
  append,
  type BatchAppendCall,
  batchAppend,
  remove,
} from './fake-event-store-writing.ts';
import { type TcpProxy, tcpProxy } from './tcp-proxy.ts';

type Method = 'append' | 'batchAppend' | 'read' | 'subscribe' | 'delete' | 'tombstone' | 'features';

/** The faults that a test can cause at the server and its connections. */
export type FakeFaults = {
  /** Each call waits this long before it is processed. */
  delay(ms: number): void;
  /** Calls are accepted and never answered. */
  stayMute(on: boolean): void;
  /** Each call is refused, as while a server starts. */
  notReady(on: boolean): void;
  /** This many appends are stored, but their connection is cut instead of a response. */
  loseAnswers(count: number): void;
  /** Ends all subscriptions with an error. Connections stay. */
  dropSubscriptions(): void;
  disconnectAll(): void;
  /** Connections stay open and no data passes, as on a frozen machine. */
  freeze(): void;
  thaw(): void;
  /** Existing connections pass no more data. New ones work. */
  strand(): void;
  /** Stops the server: connections are cut and new ones refused. Stored events stay. */
  goDown(): Promise<void>;
  /** Starts the server again on the same port. */
  comeBack(): Promise<void>;
  /** Stores events that belong to no log. */
  appendForeign(count: number): void;
};

export type FakeEventStore = {
  /** The value for `EVENTSTORE_URL`. */
  readonly url: string;
  readonly port: number;
  readonly faults: FakeFaults;
  /** The number of calls since the start. */
  calls(method: Method): number;
  /** The number of open subscriptions. */
  subscriptions(): number;
  /** The number of records that reads of `$all` have examined, including those that filters removed. */
  lookedAt(): number;
  stop(): Promise<void>;
};

/** Listens on loopback. Without a port, or with port 0, it takes a free one. */
export async function startFakeEventStore({
  port = 0,
}: {
  readonly port?: number;
} = {}): Promise<FakeEventStore> {
  const stored = records();
  const subscriptions = new Set<Drop>();
  const counts = new Map<Method, number>();
  const state: State = { delayMs: 0, isMute: false, isStarting: false, answersToLose: 0 };
  const server = new Server({ 'grpc.max_receive_message_length': -1 });
  let gate: TcpProxy | undefined;
  const intercept: Intercept = async (method, call) => {
    counts.set(method, (counts.get(method) ?? 0) + 1);
    if (state.delayMs > 0) await new Promise((done) => setTimeout(done, state.delayMs));
    if (state.isMute) return false;
    if (state.isStarting) call(failure(status.UNAVAILABLE, 'Server Is Not Ready'));
    return !state.isStarting;
  };
  addServices(server, { stored, subscriptions, state, intercept, cut: () => gate?.cut() });
  const inner = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  gate = await tcpProxy({ port: inner }, port);
  return {
    url: `esdb://127.0.0.1:${gate.port}?tls=false`,
    port: gate.port,
    faults: faultsOf(gate, { stored, subscriptions, state }),
    calls: (method) => counts.get(method) ?? 0,
    subscriptions: () => subscriptions.size,
    lookedAt: () => stored.lookedAt,
    stop: async () => {
      server.forceShutdown();
      await gate?.close();
    },
  };
}

type State = { delayMs: number; isMute: boolean; isStarting: boolean; answersToLose: number };
/** Returns false when the call must not be processed. */
type Intercept = (method: Method, refuse: (error: ServiceError) => void) => Promise<boolean>;
type Parts = {
  readonly stored: Records;
  readonly subscriptions: Set<Drop>;
  readonly state: State;
};

function addServices(
  server: Server,
  parts: Parts & { readonly intercept: Intercept; readonly cut: () => void },
): void {
  const { stored, subscriptions, state, intercept, cut } = parts;
  const removing =
    (kind: 'soft' | 'tombstone') =>
    async (call: ServerUnaryCall<DeleteReq, unknown>, answer: sendUnaryData<unknown>) => {
      const method = kind === 'soft' ? 'delete' : 'tombstone';
      if (await intercept(method, answer)) remove(stored, kind, call.request, answer);
    };
  const streams: UntypedServiceImplementation = {
    append: async (call: AppendCall, answer: sendUnaryData<unknown>) => {
      if (!(await intercept('append', answer))) return;
      append(stored, call, (error, message) => {
        if (error === null && state.answersToLose > 0) {
          state.answersToLose--;
          cut();
        } else answer(error, message);
      });
    },
    batchAppend: async (call: BatchAppendCall) => {
      if (await intercept('batchAppend', (error) => call.emit('error', error))) {
        batchAppend(stored, call);
      }
    },
    read: async (call: ReadCall) => {
      const method = call.request.getOptions()?.hasSubscription() ? 'subscribe' : 'read';
      if (await intercept(method, (error) => call.emit('error', error))) {
        read(stored, subscriptions, call);
      }
    },
    delete: removing('soft'),
    tombstone: removing('tombstone'),
  };
  server.addService(StreamsService, streams);
  server.addService(ServerFeaturesService, {
    getSupportedMethods: async (_call: unknown, answer: sendUnaryData<unknown>) => {
      if (await intercept('features', answer)) answer(null, supported());
    },
  });
}

/** Offers BatchAppend, as the real server does. */
function supported() {
  const all = new features.SupportedMethods();
  all.setEventStoreServerVersion('24.6.0');
  all.setMethodsList(
    Object.values(StreamsService).map(({ path }: { readonly path: string }) => {
      const [, service = '', name = ''] = path.toLowerCase().split('/');
      const method = new features.SupportedMethod();
      method.setServiceName(service);
      return method.setMethodName(name);
    }),
  );
  return all;
}

function faultsOf(gate: TcpProxy, { stored, subscriptions, state }: Parts): FakeFaults {
  return {
    delay: (ms) => {
      state.delayMs = ms;
    },
    stayMute: (on) => {
      state.isMute = on;
    },
    notReady: (on) => {
      state.isStarting = on;
    },
    loseAnswers: (count) => {
      state.answersToLose = count;
    },
    dropSubscriptions: () => {
      for (const drop of [...subscriptions]) drop(failure(status.UNAVAILABLE, 'dropped'));
    },
    disconnectAll: () => gate.cut(),
    freeze: () => gate.freeze(),
    thaw: () => gate.thaw(),
    strand: () => gate.strand(),
    goDown: () => gate.shut(),
    comeBack: () => gate.open(),
    appendForeign: (count) => {
      for (let n = 0; n < count; n++) stored.append('nobody-1', 'any', [foreignEvent()]);
    },
  };
}

const foreignEvent = () => ({
  id: crypto.randomUUID(),
  facts: [
    ['type', 'Foreign'],
    ['content-type', 'application/json'],
  ] as const,
  customMetadata: new Uint8Array(),
  data: Buffer.from('{}'),
});
