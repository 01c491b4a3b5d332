/**
 * The calls that this package makes to EventStoreDB, each with a deadline and repeated while its outcome is
 * unknown. They use the client's own gRPC stubs: its `appendToStream` keeps pending appends in one map of
 * the module and crashes when a connection breaks, and its `readAll` has no filter.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventStoreDBClient } from '@eventstore/db-client';
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type {
  AppendReq,
  AppendResp,
  ReadReq,
  ReadResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import type { CallOptions, Channel, Metadata, status as Status } from '@grpc/grpc-js';
import { EventStoreUnavailable } from '../event-store.ts';
import { driver } from './driver.ts';

/** One try of a call. Two of them fit in the 10 s within which every call of the product ends. */
const CALL_DEADLINE_MS = 4000;
/** No try starts later than this. */
const TRY_WITHIN_MS = 5000;
const TRIES_MAX = 7;
/** The first pause, which doubles with each try: 630 ms in total, enough for a server that is restarting. */
const PAUSE_MS = 10;
/** A connection whose ping is not answered within this time is closed; pings are sent every 10 s. */
const KEEP_ALIVE_TIMEOUT_MS = 2000;
/** A subscription that the server does not confirm within this time is given up. */
const CONFIRM_WITHIN_MS = 5000;

export interface EventStoreDbConnection {
  /** Stores all or nothing. The same requests are stored only once. */
  append(requests: readonly AppendReq[]): Promise<AppendResp>;
  read(request: ReadReq): Promise<readonly ReadResp[]>;
  /** Runs until the signal aborts. Throws when the server or the connection ends it earlier. */
  follow(request: ReadReq, on: Following, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export type Following = {
  readonly onConfirmed: () => void;
  readonly onAnswer: (answer: ReadResp) => void;
};

/** Internals of the client. */
type Inside = {
  getGRPCClient(stub: typeof StreamsClient, name: string): Promise<StreamsClient>;
  callArguments(
    base: { readonly requiresLeader: boolean; readonly deadline?: number },
    call?: CallOptions,
  ): [Metadata, CallOptions];
  /** Opens a new channel when the error says that the old one, or its node, is unusable. */
  handleError(client: StreamsClient, error: unknown): Promise<void>;
  getChannel(): Promise<Channel>;
};

export function eventStoreDbConnection(url: string): EventStoreDbConnection {
  const inside = clientOf(url) as unknown as Inside;
  const closing = new AbortController();
  let isUsed = false;

  const once = async <T>(call: (stub: StreamsClient) => Promise<T>): Promise<T> => {
    isUsed = true;
    const stub = await inside.getGRPCClient(driver().stub, 'cardea');
    try {
      return await call(stub);
    } catch (error) {
      await inside.handleError(stub, asOutage(error)).catch(() => {}); // The next attempt fails with the same error.
      throw error;
    }
  };
  const persist = async <T>(call: (stub: StreamsClient) => Promise<T>): Promise<T> => {
    const start = performance.now();
    for (let tries = 1; ; tries++) {
      try {
        return await once(call);
      } catch (error) {
        if (isRefusal(error)) throw error;
        const late = performance.now() - start > TRY_WITHIN_MS;
        if (late || tries === TRIES_MAX || closing.signal.aborted || isOurFault(error)) {
          throw new EventStoreUnavailable('the event store cannot be reached', { cause: error });
        }
        await sleep(PAUSE_MS * 2 ** (tries - 1));
      }
    }
  };
  const withDeadline = () =>
    inside.callArguments({ requiresLeader: true, deadline: CALL_DEADLINE_MS });

  return {
    append: (requests) => persist((stub) => appendOnce(stub, requests, withDeadline())),
    read: (request) => persist((stub) => readOnce(stub, request, withDeadline())),
    follow: (request, on, signal) =>
      once((stub) => {
        const unlimited = inside.callArguments({ requiresLeader: true }, { deadline: Infinity });
        return followOnce(stub.read(request, ...unlimited), on, signal);
      }),
    close: async () => {
      closing.abort();
      if (!isUsed) return; // There is no channel, and requesting one would open it.
      await inside.getChannel().then(
        (channel) => channel.close(),
        () => {},
      );
    },
  };
}

function clientOf(url: string): EventStoreDBClient {
  const own = /[?&]keepalivetimeout=/i.test(url);
  const more = `${url.includes('?') ? '&' : '?'}keepAliveTimeout=${KEEP_ALIVE_TIMEOUT_MS}`;
  try {
    return driver().client.connectionString(own ? url : `${url}${more}`);
  } catch {
    // The client's own message quotes the URL with its password.
    throw new Error('EVENTSTORE_URL is no connection string of EventStoreDB');
  }
}

type Arguments = [Metadata, CallOptions];

const appendOnce = (
  stub: StreamsClient,
  requests: readonly AppendReq[],
  [metadata, options]: Arguments,
): Promise<AppendResp> =>
  new Promise((resolve, reject) => {
    const call = stub.append(metadata, options, (error, answer) => {
      if (error === null) resolve(answer);
      else reject(error);
    });
    call.on('error', reject); // Writing to a call that has ended emits an error.
    for (const request of requests) call.write(request);
    call.end();
  });

const readOnce = (
  stub: StreamsClient,
  request: ReadReq,
  [metadata, options]: Arguments,
): Promise<readonly ReadResp[]> =>
  new Promise((resolve, reject) => {
    const answers: ReadResp[] = [];
    const call = stub.read(request, metadata, options);
    call.on('data', (answer: ReadResp) => void answers.push(answer));
    call.on('error', reject);
    call.on('end', () => resolve(answers));
  });

/** Without an error listener a dropped subscription would end the process. */
const followOnce = (
  call: ReturnType<StreamsClient['read']>,
  on: Following,
  signal: AbortSignal,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const cancel = () => call.cancel();
    const impatience = setTimeout(cancel, CONFIRM_WITHIN_MS);
    const settle = (error?: Error) => {
      clearTimeout(impatience);
      signal.removeEventListener('abort', cancel);
      if (signal.aborted) resolve();
      else reject(error ?? new Error('the subscription ended'));
    };
    call.on('data', (answer: ReadResp) => {
      if (answer.hasConfirmation()) {
        clearTimeout(impatience);
        on.onConfirmed();
      } else on.onAnswer(answer);
    });
    call.on('error', settle);
    call.on('end', () => settle());
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
  });

/** The server understood the request and refused it. A repeat would be refused too, and nothing was stored. */
const REFUSALS = [
  'INVALID_ARGUMENT',
  'FAILED_PRECONDITION',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
] as const;
/** Our credentials are wrong. This is an outage until an operator corrects them, and no fault of the append. */
const OUR_FAULTS = ['UNAUTHENTICATED', 'PERMISSION_DENIED'] as const;

/**
 * After a call without a response the connection is replaced, because its keep-alive would take three times as long.
 */
const asOutage = (error: unknown): unknown =>
  isOneOf(['DEADLINE_EXCEEDED'], error)
    ? Object.assign(new Error('late'), { code: driver().status.UNAVAILABLE, details: '' })
    : error;

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;
const isOneOf = (names: readonly (keyof typeof Status)[], error: unknown): boolean =>
  names.some((name) => driver().status[name] === codeOf(error));
const isRefusal = (error: unknown): boolean => isOneOf(REFUSALS, error);
const isOurFault = (error: unknown): boolean => isOneOf(OUR_FAULTS, error);
