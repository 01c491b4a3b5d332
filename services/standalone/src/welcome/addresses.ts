/** Writes the addresses of a running instance into its data folder, for commands that run on the same machine. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type Addresses = {
  readonly api: string;
  /** One address per process. */
  readonly management: readonly string[];
  /** Servers that it started itself and that the settings do not name. */
  readonly servers: { readonly [setting: string]: string };
};

type OneProcess = { readonly pid: number; readonly api: string; readonly management: string };
/** The parts of the file that are read here. */
type Cluster = {
  readonly gateway: string;
  readonly postgres: string;
  readonly redis: string;
  readonly kafka: string | null;
  readonly eventstore: string | null;
  readonly services: { readonly [name: string]: readonly { readonly management: string }[] };
};

const INSTANCE = 'instance.json';
const CLUSTER = 'cluster.json';
const OWNER_ONLY = 0o600;

export function writeAddresses(folder: string, addresses: OneProcess): void {
  rmSync(join(folder, CLUSTER), { force: true });
  writeFileSync(join(folder, INSTANCE), `${JSON.stringify(addresses)}\n`, { mode: OWNER_ONLY });
}

/** The addresses of the last instance that ran. The folder's lock tells whether it still runs. */
export function readAddresses(folder: string): Addresses | undefined {
  const cluster = read<Cluster>(folder, CLUSTER);
  if (cluster !== undefined) return ofCluster(cluster);
  const one = read<OneProcess>(folder, INSTANCE);
  return one && { api: one.api, management: [one.management], servers: {} };
}

function ofCluster({ gateway, services, ...servers }: Cluster): Addresses {
  const { postgres, redis, kafka, eventstore } = servers;
  const settings = {
    DATABASE_URL: postgres,
    REDIS_URL: redis,
    KAFKA_BROKERS: kafka,
    EVENTSTORE_URL: eventstore,
  };
  return {
    api: gateway,
    management: Object.values(services).flatMap((all) => all.map(({ management }) => management)),
    servers: Object.fromEntries(
      Object.entries(settings).filter((pair): pair is [string, string] => pair[1] !== null),
    ),
  };
}

function read<T>(folder: string, name: string): T | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, name), 'utf8')) as T;
  } catch {
    return undefined;
  }
}
