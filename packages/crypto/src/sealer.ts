import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { type Clock, failpoint, loadingCache, type Random, systemRandom } from '@cardea/runtime';
import type { WrapKeys } from './derive.ts';
import { decrypt, encrypt, type FieldBinding, lengthPrefixed, Tampered } from './envelope.ts';
import { knownWrapKey } from './rewrap.ts';
import type { FieldLocation, Sealed, Sealer, SubjectKeyRow, SubjectKeyTable } from './sealed.ts';

export type SealerDependencies = {
  readonly table: SubjectKeyTable;
  /** The result of `wrapKeys(settings, 'subject-wrap/v1')`. */
  readonly keys: WrapKeys;
  readonly clock: Clock;
  readonly random?: Random;
};

const KEY_BYTES = 32;
const CACHED_KEYS_MAX = 10_000;
/** How long a process keeps using a key that another process has erased. */
export const CACHED_KEY_MS = 60_000;
const INDEX_HASH_HEX = 32;
/** Used as the tenant in rows of the deployment itself. */
const DEPLOYMENT = 'deployment';

type Found = KeyObject | 'erased' | 'absent';

/** Encrypts fields under keys of their subjects. The keys are wrapped in a table and cached in memory. */
export function sealer(needs: SealerDependencies): Sealer {
  const subjectKeys = keyring(needs);
  return {
    seal: async (tenantId, place, value) => {
      const key = await subjectKeys.make(tenantId, place.subject);
      if (key === 'erased') return key;
      const options = needs.random === undefined ? {} : { random: needs.random };
      const box = encrypt(key, value, whole(place), options).toString('base64url');
      return { subject: place.subject, box };
    },
    open: async (sealed: Sealed, { streamId, field }) => {
      const key = await subjectKeys.find(sealed.subject);
      if (key === undefined) return null;
      const place = { subject: sealed.subject, streamId, field };
      return decrypt(key, boxOf(sealed), whole(place)).toString('utf8');
    },
    erase: (subject) => subjectKeys.erase(subject),
    eraseTenant: (tenantId) => subjectKeys.eraseTenant(tenantId),
    indexHash: async (scope, ...parts) => {
      const tenantId = scope === DEPLOYMENT ? DEPLOYMENT : scope.tenantId;
      const key = await subjectKeys.make(tenantId, `index:${tenantId}`);
      if (key === 'erased') throw new Error('The index key was erased.');
      const mac = createHmac('sha256', key)
        .update(lengthPrefixed(...parts))
        .digest('hex');
      return mac.slice(0, INDEX_HASH_HEX);
    },
  };
}

const whole = ({ subject, streamId, field }: FieldLocation) => [
  'sealed.v1',
  subject,
  streamId,
  field,
];

/** A ciphertext has only one text: bits that decoding would drop are refused too. */
function boxOf({ box }: Sealed): Buffer {
  const bytes = Buffer.from(box, 'base64url');
  if (bytes.toString('base64url') !== box) throw new Tampered('The box has not the form of one.');
  return bytes;
}

/**
 * Address and user agent of an event's metadata are encrypted for a whole UTC day and for no stream, so that a command
 * can encrypt them before it knows its stream. Their keys are deleted after 366 days.
 */
export const contextLocation = (
  tenantId: string,
  at: Date,
  field: 'ip' | 'user_agent',
): FieldLocation => ({
  subject: `context:${tenantId}:${at.toISOString().slice(0, 10)}`,
  streamId: 'context',
  field,
});

interface Keyring {
  /** Returns the subject's key, and creates it when there is none. */
  make(tenantId: string, subject: string): Promise<KeyObject | 'erased'>;
  /** Undefined if it was erased, or never existed. */
  find(subject: string): Promise<KeyObject | undefined>;
  erase(subject: string): Promise<void>;
  eraseTenant(tenantId: string): Promise<void>;
}

function keyring({ table, keys, clock, random = systemRandom }: SealerDependencies): Keyring {
  // A missing key is not cached, because the next call may find the row.
  const cache = loadingCache<string, Found>(clock, {
    entriesMax: CACHED_KEYS_MAX,
    ttlMs: CACHED_KEY_MS,
    keeps: (found) => found !== 'absent',
  });

  const read = async (subject: string): Promise<Found> => {
    const row = await table.read(subject);
    return row === undefined ? 'absent' : unwrapped(row, keys);
  };

  const insert = async (tenantId: string, subject: string): Promise<KeyObject | 'erased'> => {
    const kekId = keys.current.id;
    const place = subjectKeyLocation({ subjectId: subject, tenantId, kekId });
    const wrapped = encrypt(keys.current.key, random.bytes(KEY_BYTES), place, { random });
    const stands = await table.insertIfAbsent({ subjectId: subject, tenantId, wrapped, kekId });
    return unwrapped(stands, keys);
  };

  return {
    make: async (tenantId, subject) => {
      const found = await cache.get(subject, () => insert(tenantId, subject));
      // If the cache contained another caller's read instead of our insertion, the insertion follows here.
      return found === 'absent' ? await insert(tenantId, subject) : found;
    },
    find: async (subject) => {
      const found = await cache.get(subject, () => read(subject));
      return typeof found === 'string' ? undefined : found;
    },
    erase: async (subject) => {
      cache.delete(subject);
      await table.erase(subject);
      await failpoint('erase.after_key');
      // A concurrent reader may have cached the row again.
      cache.delete(subject);
    },
    eraseTenant: async (tenantId) => {
      // Each iteration leaves fewer keys, and none is added to a deleted tenant.
      while (true) {
        const erased = await table.eraseSomeOf(tenantId);
        if (erased.length === 0) return;
        await failpoint('erase.after_key');
        for (const subject of erased) cache.delete(subject);
      }
    },
  };
}

type Wrapped = Pick<SubjectKeyRow, 'subjectId' | 'tenantId' | 'kekId'>;
/** The AAD of a wrapped subject key. */
export const subjectKeyLocation = ({ subjectId, tenantId, kekId }: Wrapped): FieldBinding => [
  'subject-key.v1',
  subjectId,
  tenantId,
  kekId,
];

function unwrapped(row: SubjectKeyRow, keys: WrapKeys): KeyObject | 'erased' {
  if (row.wrapped === null) return 'erased';
  const { key } = knownWrapKey(keys, row.kekId);
  return createSecretKey(decrypt(key, row.wrapped, subjectKeyLocation(row)));
}

/** The table as a map, for tests and for callers without a database. */
export function inMemorySubjectKeys(): SubjectKeyTable & {
  readonly rows: Map<string, SubjectKeyRow>;
} {
  const rows = new Map<string, SubjectKeyRow>();
  return {
    rows,
    read: async (subjectId) => rows.get(subjectId),
    insertIfAbsent: async (row) => {
      const stands = rows.get(row.subjectId) ?? row;
      rows.set(row.subjectId, stands);
      return stands;
    },
    erase: async (subjectId) => {
      const row = rows.get(subjectId) ?? { subjectId, tenantId: '', kekId: '' };
      rows.set(subjectId, { ...row, wrapped: null });
    },
    eraseSomeOf: async (tenantId) => {
      const found = [...rows.values()].find(
        (row) =>
          row.tenantId === tenantId &&
          row.wrapped !== null &&
          !row.subjectId.startsWith('context:'),
      );
      if (found === undefined) return [];
      rows.set(found.subjectId, { ...found, wrapped: null });
      return [found.subjectId];
    },
  };
}
