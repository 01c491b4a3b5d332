/**
 * All keys of a deployment that are wrapped under ENCRYPTION_KEY: counts them, refuses unknown wrapping keys, and
 * re-encrypts them.
 */
import type { ServiceName } from '@cardea/contracts';
import {
  type DeploymentSecrets,
  foreignKey,
  UnknownWrapKey,
  type WrapKeys,
  wrapKeys,
} from '@cardea/crypto';
import {
  type Database,
  foreignKeysOf,
  rewrapTable,
  rowsByKey,
  subjectKeyTable,
  type WrappedKeyTable,
} from '@cardea/read-models';
import type { Settings } from '@cardea/runtime';
import type { ServiceDefinition } from '../service.ts';
import { ownSecrets } from './own-secrets.ts';

type Of = {
  readonly database: Pick<Database, 'system'>;
  readonly definitions: readonly Pick<ServiceDefinition, 'name' | 'wrappedKeys'>[];
  readonly settings: Settings;
  /** The secrets of one service; its own ones by default. */
  readonly secretsOf?: (service: ServiceName) => DeploymentSecrets;
};

export type CountedKeys = {
  readonly table: string;
  readonly kek_id: string;
  readonly key: 'current' | 'previous' | 'unknown';
  readonly rows: number;
};

type Wrapped = { readonly table: WrappedKeyTable; readonly keys: WrapKeys };

function tablesOf({ definitions, settings, secretsOf }: Of): readonly Wrapped[] {
  return definitions.flatMap(({ name, wrappedKeys = [] }) => {
    const secrets = secretsOf?.(name) ?? ownSecrets(settings, name);
    return [subjectKeyTable(name), ...wrappedKeys].map((table) => ({
      table,
      keys: wrapKeys(secrets, table.info),
    }));
  });
}

export async function countedKeys(of: Of): Promise<readonly CountedKeys[]> {
  const counted: CountedKeys[] = [];
  for (const { table, keys } of tablesOf(of)) {
    const { current, previous } = keys;
    for (const [kek_id, rows] of await rowsByKey(of.database, table)) {
      const own = kek_id === previous?.id ? 'previous' : 'unknown';
      const key = kek_id === current.id ? 'current' : own;
      counted.push({ table: table.name, kek_id, key, rows });
    }
  }
  return counted;
}

/**
 * Throws `UnknownWrapKey` while any row uses a key that is neither the current nor the previous one. A process that
 * started anyway would write rows under one key beside rows that it cannot read.
 */
export async function refuseForeignKeys(of: Of): Promise<void> {
  const found = new Set<string>();
  for (const { table, keys } of tablesOf(of)) {
    for (const id of await foreignKeysOf(of.database, table, keys)) found.add(id);
  }
  if (found.size === 0) return;
  throw new UnknownWrapKey(
    foreignKey([...found].toSorted(), wrapKeys(of.settings, subjectKeyTable('').info)),
  );
}

/** Reports for each table how many rows were re-encrypted. */
export async function rewrapKeys(
  of: Of,
  onTable: (table: string, rows: number) => void,
): Promise<void> {
  for (const { table, keys } of tablesOf(of)) {
    onTable(table.name, await rewrapTable(of.database, table, keys));
  }
}
