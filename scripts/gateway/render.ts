/** The committed template with the values of one deployment. */
import { readFileSync } from 'node:fs';
import { SERVICE_NAMES, type ServiceName } from '@cardea/contracts';
import { hostInUrl } from '@cardea/runtime';

export type GatewayOptions = {
  /** `host:port` of each replica; a service without one answers 502. */
  readonly upstreams: Readonly<Record<ServiceName, readonly string[]>>;
  readonly port: number;
  /** Loopback by default; nginx listens on each of them. */
  readonly hosts?: readonly string[];
  /** CIDRs of trusted proxies in front, whose X-Forwarded-For counts. */
  readonly trustedProxies?: readonly string[];
  /** A writable folder for nginx's files; absolute. */
  readonly folder: string;
  /** The folder of the documents; absolute. */
  readonly staticFolder: string;
  readonly workers?: number | 'auto';
  /** Whether clients use https. */
  readonly https?: boolean;
  /** The longest wait for a response; above the longest poll of 30 s unless a test wants less. */
  readonly readWaitSeconds?: number;
  /** The log of the responses that the gateway itself wrote. */
  readonly logFile?: string;
};

export const TEMPLATE = new URL('../../deploy/gateway/nginx.conf.template', import.meta.url);

const READ_WAIT_SECONDS = 45;
const HSTS = 'max-age=31536000';
/** An address at which no server listens. */
const NOBODY = '127.0.0.1:1';

export function renderGateway(options: GatewayOptions): string {
  const { hosts = ['127.0.0.1'], trustedProxies = [], folder } = options;
  const values: { readonly [name: string]: string } = {
    FOLDER: folder,
    STATIC: options.staticFolder,
    WORKERS: String(options.workers ?? 'auto'),
    LISTEN: hosts.map((host) => `listen ${hostInUrl(host)}:${options.port};`).join(' '),
    REAL_IP: trustedProxies.map((cidr) => `set_real_ip_from ${cidr};`).join(' '),
    // Addresses need no resolver.
    RESOLVER: '',
    HSTS: options.https === true ? HSTS : '',
    READ_WAIT: `${options.readWaitSeconds ?? READ_WAIT_SECONDS}s`,
    LOG: options.logFile ?? `${folder}/faults.log`,
    ...Object.fromEntries(
      SERVICE_NAMES.map((name) => [
        `${name.toUpperCase()}_SERVERS`,
        serversOf(options.upstreams[name]),
      ]),
    ),
  };
  return readFileSync(TEMPLATE, 'utf8').replaceAll(/\$\{([A-Z_]+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`the template asks for ${name}, which nobody gives`);
    return value;
  });
}

/** No server is ever marked as failed, because two that restart one after the other would both be left out at once. */
const serversOf = (addresses: readonly string[]): string =>
  (addresses.length > 0 ? addresses : [NOBODY])
    .map((address) => `server ${address} max_fails=0;`)
    .join(' ');
