/**
 * The deployment on which a command works: that of a data folder, running or stopped, or the one that the environment's
 * settings describe.
 */
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import type { ServiceName } from '@cardea/contracts';
import { runningPort } from '@cardea/local-postgres';
import {
  type Environment,
  formatFaults,
  type RootLogger,
  type Settings,
  secret,
  takeSettings,
} from '@cardea/runtime';
import {
  buildParts,
  type Infrastructure,
  infrastructure,
  type Part,
  type ServiceDependencies,
} from '@cardea/service';
import { type DataFolder, FolderInUse, type Generated, openDataFolder } from '../data-folder.ts';
import { ownDatabase, ownDatabaseUrl } from '../own-database.ts';
import { services } from '../standalone.ts';
import { type Addresses, readAddresses } from '../welcome/addresses.ts';
import { NotDone, WrongConfiguration } from './failures.ts';

export type Deployment = {
  readonly settings: Settings;
  /** A text for people: which deployment this is, and whether it runs. */
  readonly place: string;
  readonly folder: string | undefined;
  /** The addresses of a running deployment. Undefined if it is stopped or unknown. */
  readonly addresses: Addresses | undefined;
  /** Undefined if there is no data folder. */
  readonly isRunning: boolean | undefined;
  readonly log: RootLogger;
  readonly version: string;
  /** Opens connections at the first call. */
  readonly shared: () => Infrastructure;
  /** The six services, constructed but not started. */
  readonly parts: () => readonly Part[];
  readonly close: () => Promise<void>;
};

export type Opening = {
  readonly env: Environment;
  /** `--data`. */
  readonly data: string | undefined;
  readonly version: string;
  readonly log: RootLogger;
};

export const folderOf = ({ env, data }: Pick<Opening, 'env' | 'data'>): string =>
  resolve(data ?? (env['CARDEA_DATA'] || '.cardea'));

/** The settings as the deployment itself reads them. `generated` are those from its data folder. */
export function settingsOf(opening: Pick<Opening, 'env' | 'data'>): {
  readonly settings: Settings;
  readonly generated: Generated | undefined;
} {
  const { data } = opening;
  const env = { ...opening.env };
  const generated = generatedIn(folderOf(opening));
  const isFolder = generated !== undefined && (data !== undefined || !hasSecrets(env));
  const hasDatabase = Boolean(env['DATABASE_URL'] || env['DATABASE_URL_FILE']);
  if (!isFolder && (data !== undefined || !hasDatabase)) {
    throw new WrongConfiguration(nothingAt(folderOf(opening)));
  }
  if (isFolder) fillIn(env, generated);
  const read = takeSettings(env, { standalone: isFolder, cpus: availableParallelism() });
  if ('faults' in read) throw new WrongConfiguration(formatFaults(read.faults), read.faults);
  const settings = isFolder ? { ...read.ok, CARDEA_DATA: folderOf(opening) } : read.ok;
  return { settings, generated: isFolder ? generated : undefined };
}

export async function openDeployment(opening: Opening): Promise<Deployment> {
  const { settings, generated } = settingsOf(opening);
  if (generated === undefined) {
    const place = 'the deployment of these settings';
    return deployment(opening, { settings, place, isRunning: undefined });
  }
  const folder = lockedFolder(folderOf(opening));
  return folder === undefined
    ? running(opening, generated)
    : await stopped(opening, { folder, settings });
}

/** Returns undefined while another process uses the folder. */
function lockedFolder(path: string): DataFolder | undefined {
  try {
    return openDataFolder({ path });
  } catch (error) {
    if (error instanceof FolderInUse) return undefined;
    throw error;
  }
}

function running(opening: Opening, generated: Generated): Deployment {
  const path = folderOf(opening);
  const addresses = readAddresses(path);
  const env = { ...unnamed(addresses?.servers, opening.env), ...opening.env };
  const { settings } = settingsOf({ ...opening, env });
  const isNamed = settings.DATABASE_URL.reveal() !== '';
  return deployment(opening, {
    settings: isNamed ? settings : onDatabase(settings, runningDatabase(path, generated)),
    place: `${path}, running${addresses === undefined ? '' : ` at ${addresses.api}`}`,
    isRunning: true,
    path,
    addresses,
  });
}

/** The servers that the environment names neither directly nor by a file. */
const unnamed = (servers: Environment = {}, env: Environment): Environment =>
  Object.fromEntries(Object.entries(servers).filter(([name]) => !env[`${name}_FILE`]));

async function stopped(
  opening: Opening,
  { folder, settings }: { readonly folder: DataFolder; readonly settings: Settings },
): Promise<Deployment> {
  const { path, release } = folder;
  const found = { place: `${path}, stopped`, isRunning: false, path };
  if (settings.DATABASE_URL.reveal() !== '') {
    return deployment(opening, { ...found, settings, release });
  }
  const own = await ownDatabase(folder, opening.log).catch((error: unknown) => {
    release();
    throw error;
  });
  // PostgreSQL runs in its own process group, so it has to be stopped however this process ends.
  process.once('exit', own.stop);
  const end = (): void => {
    process.off('exit', own.stop);
    own.stop();
    release();
  };
  return deployment(opening, {
    ...found,
    settings: onDatabase(settings, own.url),
    place: `${found.place}; its database was started for this command`,
    release: end,
  });
}

type Found = {
  readonly settings: Settings;
  readonly place: string;
  readonly isRunning: boolean | undefined;
  readonly path?: string;
  readonly addresses?: Addresses | undefined;
  readonly release?: () => void;
};

function deployment({ log, version }: Opening, found: Found): Deployment {
  const { settings, place, isRunning, path, addresses, release } = found;
  let shared: Infrastructure | undefined;
  let parts: readonly Part[] | undefined;
  const open = (): Infrastructure => {
    shared ??= infrastructure({ settings, version, log });
    return shared;
  };
  return {
    settings,
    place,
    folder: path,
    addresses,
    isRunning,
    log,
    version,
    shared: open,
    parts: () => {
      const options = { definitions: services, port: 0, managementPort: 0, hosts: [] };
      parts ??= buildParts({ ...options, infrastructure: open() }).parts;
      return parts;
    },
    close: async () => {
      try {
        for (const { positions } of parts ?? []) await positions.close();
        await shared?.close();
      } finally {
        release?.();
      }
    },
  };
}

const generatedIn = (folder: string): Generated | undefined => {
  const file = join(folder, 'secrets.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Generated) : undefined;
};

const hasSecrets = (env: Environment): boolean =>
  Boolean(env['ENCRYPTION_KEY'] || env['ENCRYPTION_KEY_FILE']);

/** Fills in values as a start on the folder does. The environment takes precedence. */
function fillIn(env: { [name: string]: string | undefined }, generated: Generated): void {
  for (const name of ['JWT_SECRET', 'ENCRYPTION_KEY'] as const) {
    if (!env[name] && !env[`${name}_FILE`]) env[name] = generated[name];
  }
}

const onDatabase = (settings: Settings, url: Settings['DATABASE_URL']): Settings => ({
  ...settings,
  DATABASE_URL: url,
  MIGRATION_DATABASE_URL: url,
});

function runningDatabase(path: string, { POSTGRES_PASSWORD }: Generated) {
  const port = runningPort(join(path, 'postgres'));
  if (port !== undefined) return secret(ownDatabaseUrl(port, POSTGRES_PASSWORD));
  throw new NotDone(
    'What runs on this folder has its database elsewhere: set DATABASE_URL as it was started with.',
  );
}

const nothingAt = (folder: string): string =>
  `There is no deployment at ${folder} and DATABASE_URL is unset: start one with npm start, name its folder with --data, or give the settings of a deployment.`;

export function dependenciesOf(deployment: Deployment, name: ServiceName): ServiceDependencies {
  const part = deployment.parts().find(({ definition }) => definition.name === name);
  if (part === undefined) throw new Error(`${name} is not among the services`);
  return part.needs;
}

/** The tables with wrapped keys, and the keys that unwrap them. */
export const wrappedIn = (deployment: Deployment) => ({
  database: deployment.shared().database,
  definitions: services,
  settings: deployment.settings,
});
