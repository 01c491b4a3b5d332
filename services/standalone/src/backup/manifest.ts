/**
 * The manifest lists the contents of a backup and the requirements for restoring it. It is written last, so a backup
 * without one is incomplete. It is authenticated under ENCRYPTION_KEY and contains the hashes of all files.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServiceName } from '@cardea/contracts';
import { hmac, lengthPrefixed, sameBytes, sha256, wrapKeys } from '@cardea/crypto';
import type { CopiedTable } from '@cardea/read-models';
import type { Settings } from '@cardea/runtime';
import type { Infrastructure } from '@cardea/service';
import { NotDone, WrongConfiguration } from '../cli/failures.ts';

/** Version 2 allows a table to be saved in parts. */
export const FORMAT = 2;
const FORMATS_READ: readonly number[] = [1, FORMAT];
const FILE = 'manifest.json';
const USE = 'backup/v1';
const OWNER_ONLY = 0o600;
const KEY_ID_CHARACTERS = 8;

/** A table, or the rows of one file of a large table. */
export type SavedTable = CopiedTable & {
  readonly file: string;
  readonly rows: number;
  /** The size of the compressed file. */
  readonly bytes: number;
  readonly sha256: string;
};

export type Manifest = {
  readonly format: number;
  readonly version: string;
  readonly created_at: string;
  /** With EventStoreDB the events are not in the backup. EventStoreDB has its own backup. */
  readonly events: 'included' | 'in_event_store_db';
  /** `schema/NNNN-name` and the hash of the migration's source. */
  readonly migrations: { readonly [name: string]: string };
  readonly heads: { readonly [log in ServiceName]: string };
  readonly keys: { readonly encryption_key: string; readonly jwt_secret: string };
  readonly tables: readonly SavedTable[];
};

type Keys = Pick<Infrastructure, 'derive' | 'settings'>;
type Stored = { readonly manifest: Manifest; readonly mac: string };

/** Short identifiers of the deployment's secrets, which reveal nothing about them. */
export const keyIdsOf = ({ settings, derive }: Keys): Manifest['keys'] => ({
  encryption_key: wrapKeys(settings, USE).current.id,
  jwt_secret: idOf(derive('JWT_SECRET', USE).current),
});

const idOf = (key: Buffer): string =>
  sha256(lengthPrefixed('key-id', key)).toString('hex').slice(0, KEY_ID_CHARACTERS);

export function writeManifest(folder: string, manifest: Manifest, { derive }: Keys): void {
  const mac = macOf(manifest, derive('ENCRYPTION_KEY', USE).current).toString('hex');
  const stored: Stored = { manifest, mac };
  const draft = join(folder, `${FILE}.new`);
  writeFileSync(draft, `${JSON.stringify(stored, null, 2)}\n`, { mode: OWNER_ONLY, flush: true });
  renameSync(draft, join(folder, FILE));
}

/** Throws unless one of our keys authenticates it unchanged. */
export function readManifest(folder: string, keys: Keys): Manifest {
  const stored = parsed(folder);
  refuseOtherKey(stored.manifest.keys.encryption_key, keys.settings);
  const { current, previous } = keys.derive('ENCRYPTION_KEY', USE);
  const isGenuine = [current, previous].some(
    (key) =>
      key !== undefined && sameBytes(macOf(stored.manifest, key).toString('hex'), stored.mac),
  );
  if (!isGenuine) throw damaged('manifest.json was changed since it was written');
  if (!FORMATS_READ.includes(stored.manifest.format)) throw newer(stored.manifest.version);
  return stored.manifest;
}

const macOf = (manifest: Manifest, key: Buffer): Buffer => hmac(key, JSON.stringify(manifest));

function parsed(folder: string): Stored {
  const file = join(folder, FILE);
  if (!existsSync(file)) {
    throw new NotDone(
      'there is no manifest.json: it is no backup, or one that was broken off',
      'backup_incomplete',
    );
  }
  try {
    const stored = JSON.parse(readFileSync(file, 'utf8')) as Stored;
    const { manifest, mac } = stored;
    if (typeof mac === 'string' && typeof manifest.keys.encryption_key === 'string') return stored;
  } catch {
    // Reported as damaged, without the parser's message, which quotes the file.
  }
  throw damaged('manifest.json is not readable');
}

function refuseOtherKey(id: string, settings: Settings): void {
  const { current, previous } = wrapKeys(settings, USE);
  const ours = [current, previous].flatMap((key) => key?.id ?? []);
  if (ours.includes(id)) return;
  // A text that is no key id is not shown.
  const theirs = /^[0-9a-f]{8}$/.test(id) ? id : 'unknown';
  throw new WrongConfiguration(
    `The backup was made under ENCRYPTION_KEY ${theirs}, and the settings have ${ours.join(', ')}: nothing was written.`,
    [],
    'backup_other_key',
  );
}

export const damaged = (what: string): NotDone =>
  new NotDone(`the backup is damaged: ${what}; nothing was written`, 'backup_damaged');

export const newer = (version: string): NotDone =>
  new NotDone(
    `the backup was made by version ${/^[\w.-]{1,40}$/.test(version) ? version : 'unknown'}, which this one does not know: restore it with that version`,
    'backup_newer',
  );
