/**
 * Connects only to addresses that it has checked itself at the time of connecting. Literal addresses are checked too,
 * since they need no lookup. A name is never looked up a second time.
 */
import { Resolver } from 'node:dns/promises';
import { isIP, type Socket } from 'node:net';
import { isLoopback, isLoopbackHost } from '@cardea/runtime';
import { buildConnector } from 'undici';
import type { AddressGuard } from './address-guard.ts';
import { hostOf } from './target-url.ts';

export type ConnectFault =
  | 'blocked_address'
  | 'dns_error'
  | 'connect_error'
  | 'connect_timeout'
  | 'tls_error';

export class ConnectFailed extends Error {
  override readonly name = 'ConnectFailed';
  readonly fault: ConnectFault;
  constructor(fault: ConnectFault) {
    super(`no connection: ${fault}`);
    this.fault = fault;
  }
}

/** Looks a name up once: A and AAAA. Rejects when there is no result. */
export type NameResolver = (name: string) => Promise<readonly string[]>;

export type Dial = {
  readonly address: string;
  readonly port: number;
  readonly protocol: 'http:' | 'https:';
  /** The name for which the TLS certificate must be valid. */
  readonly servername: string | undefined;
};
/** Opens one connection, with TLS for https. Rejects with {@link ConnectFailed}. */
export type Dialer = (dial: Dial, timeoutMs: number) => Promise<Socket>;

/** The time limit of DNS, TCP and TLS together. */
export const CONNECT_WAIT_MS = 5_000;
const DNS_WAIT_MS = 2_000;
const DNS_TRIES = 2;
/** How many addresses of one name are tried, within the same time limit. */
const ADDRESSES_MAX = 4;

/** The name server reported that the name does not exist or has no address. */
const UNKNOWN = new Set(['ENOTFOUND', 'ENODATA']);
type NameServer = Pick<Resolver, 'resolve4' | 'resolve6'>;

/**
 * Our own resolver, because with `dns.lookup` a slow name would block the threads that password hashing needs.
 * `unknown` looks up names that the name server does not know. A name whose lookup failed is not passed to it.
 */
export function ownResolver(
  unknown?: NameResolver,
  resolver: NameServer = new Resolver({ timeout: DNS_WAIT_MS, tries: DNS_TRIES }),
): NameResolver {
  return async (name) => {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const isUnknown = answers.every(
      (answer) => answer.status === 'rejected' && UNKNOWN.has(answer.reason?.code),
    );
    if (unknown !== undefined && isUnknown) return await unknown(name);
    const addresses = answers.flatMap((answer) =>
      answer.status === 'fulfilled' ? answer.value : [],
    );
    if (addresses.length === 0) throw new ConnectFailed('dns_error');
    return addresses;
  };
}

/** `ca` is a certificate that only tests trust. Certificates of a deployment are in NODE_EXTRA_CA_CERTS. */
export function ownDialer(options: { readonly ca?: string } = {}): Dialer {
  const connect = buildConnector({ ...options, allowH2: false, timeout: 0 });
  return (dial, timeoutMs) =>
    new Promise((resolve, reject) => {
      let reached = false;
      const { address: hostname, port, protocol, servername } = dial;
      const socket = connect(
        {
          hostname,
          host: servername ?? hostname,
          protocol,
          port: String(port),
          ...(protocol === 'https:' && servername !== undefined ? { servername } : {}),
        },
        (_error, connected) => {
          clearTimeout(timer);
          if (connected) resolve(connected);
          // The socket connected but the TLS handshake failed. Plain connections fail earlier.
          else reject(new ConnectFailed(reached ? 'tls_error' : 'connect_error'));
        },
      ) as unknown as Socket;
      const timer = setTimeout(() => {
        reject(new ConnectFailed('connect_timeout'));
        socket.destroy();
      }, timeoutMs);
      socket.once('connect', () => {
        reached = true;
      });
    });
}

export type ConnectorDependencies = {
  readonly guard: AddressGuard;
  readonly development: boolean;
  readonly resolver: NameResolver;
  readonly dialer: Dialer;
  readonly connectWaitMs: number;
};

export function guardedConnector(needs: ConnectorDependencies): buildConnector.connector {
  return (options, callback) => {
    connectTo(options, needs).then(
      (socket) => callback(null, socket),
      (error: Error) => callback(error, null),
    );
    return undefined as never;
  };
}

async function connectTo(
  { hostname, protocol, port }: buildConnector.Options,
  needs: ConnectorDependencies,
): Promise<Socket> {
  if (protocol !== 'https:' && protocol !== 'http:') throw new ConnectFailed('blocked_address');
  const deadlineMs = performance.now() + needs.connectWaitMs;
  const host = hostOf({ hostname });
  const literal = isIP(host) !== 0;
  const addresses = await judgedAddresses(host, needs);
  const may = judge(host, needs);
  let failed = new ConnectFailed('connect_error');
  for (const [index, address] of addresses.slice(0, ADDRESSES_MAX).entries()) {
    const leftMs = deadlineMs - performance.now();
    if (leftMs <= 0) throw new ConnectFailed('connect_timeout');
    const others = Math.min(addresses.length, ADDRESSES_MAX) - index;
    const dial: Dial = {
      address,
      port: Number(port) || (protocol === 'https:' ? 443 : 80),
      protocol,
      servername: literal ? undefined : host,
    };
    try {
      const socket = await needs.dialer(dial, leftMs / others);
      if (may(socket.remoteAddress ?? '')) return socket;
      socket.destroy();
      throw new ConnectFailed('blocked_address');
    } catch (error) {
      failed = error instanceof ConnectFailed ? error : new ConnectFailed('connect_error');
      if (failed.fault === 'blocked_address') throw failed;
    }
  }
  throw failed;
}

/** Checks all addresses of the host. A single one that is not allowed refuses the host. */
async function judgedAddresses(
  host: string,
  needs: ConnectorDependencies,
): Promise<readonly string[]> {
  if (needs.development && host === 'localhost') return ['127.0.0.1', '::1'];
  const may = judge(host, needs);
  const addresses = isIP(host) === 0 ? await lookedUp(host, needs) : [host];
  if (addresses.length === 0 || !addresses.every(may)) throw new ConnectFailed('blocked_address');
  return addresses;
}

async function lookedUp(host: string, { resolver, connectWaitMs }: ConnectorDependencies) {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new ConnectFailed('connect_timeout')), connectWaitMs);
  });
  try {
    return await Promise.race([resolver(host), late]);
  } catch (error) {
    throw error instanceof ConnectFailed ? error : new ConnectFailed('dns_error');
  } finally {
    clearTimeout(timer);
  }
}

const judge =
  (host: string, { guard, development }: ConnectorDependencies) =>
  (address: string): boolean =>
    guard.allows(address) || (development && isLoopbackHost(host) && isLoopback(address));
