/** The committed template filled in for one deployment. */
import { readFileSync } from 'node:fs';
import { SERVICE_NAMES, type ServiceName } from '@cardea/contracts';

export type GatewayOptions = {
  /** `host:port` of each replica; a service without one answers 502. */
  readonly upstreams: Readonly<Record<ServiceName, readonly string[]>>;
  readonly port: number;
  /** Loopback unless named; several are listened on alike. */
  readonly hosts?: readonly string[];
  /** CIDRs of proxies in front, whose X-Forwarded-For counts. */
  readonly trustedProxies?: readonly string[];
  /** Writable, for what nginx keeps while it runs; absolute. */
  readonly folder: string;
  /** Of the documents; absolute. */
  readonly staticFolder: string;
  readonly workers?: number | 'auto';
  /** Whether clients come by https. */
  readonly https?: boolean;
  /** How long an answer may take; above the longest poll of 30 s unless a test wants less. */
  readonly readWaitSeconds?: number;
  /** Where answers that no service gave are written down. */
  readonly logFile?: string;
};

export const TEMPLATE = new URL('../../deploy/gateway/nginx.conf.template', import.meta.url);

const READ_WAIT_SECONDS = 45;
const HSTS = 'max-age=31536000';
/** Nobody listens there. */
const NOBODY = '127.0.0.1:1';

export function renderGateway(options: GatewayOptions): string {
  const { hosts = ['127.0.0.1'], trustedProxies = [], folder } = options;
  const values: { readonly [name: string]: string } = {
    FOLDER: folder,
    STATIC: options.staticFolder,
    WORKERS: String(options.workers ?? 'auto'),
    LISTEN: hosts.map((host) => `listen ${literal(host)}:${options.port};`).join(' '),
    REAL_IP: trustedProxies.map((cidr) => `set_real_ip_from ${cidr};`).join(' '),
    // Addresses need none.
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

const literal = (host: string): string => (host.includes(':') ? `[${host}]` : host);

/**
 * No server is left out for a while after a failure: two that restart one after the other would both
 * be out at once.
 */
const serversOf = (addresses: readonly string[]): string =>
  (addresses.length > 0 ? addresses : [NOBODY])
    .map((address) => `server ${address} max_fails=0;`)
    .join(' ');
