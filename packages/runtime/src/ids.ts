import { hash, randomBytes } from 'node:crypto';
import type { Clock, Ids, Random } from './ports.ts';

const POOL_BYTES = 4_096;
/** The largest draw from the pool. Longer ones are read from the operating system directly. */
const POOLED_BYTES_MAX = 64;

/** Randomness of the operating system. Reading it costs more than the bytes, so small draws share one read. */
export const systemRandom: Random = pooledRandom();

function pooledRandom(): Random {
  let pool = Buffer.alloc(0);
  let used = 0;
  return {
    bytes: (length) => {
      if (length > POOLED_BYTES_MAX) return randomBytes(length);
      if (used + length > pool.length) {
        pool = randomBytes(POOL_BYTES);
        used = 0;
      }
      const drawn = Buffer.from(pool.subarray(used, used + length));
      pool.fill(0, used, used + length); // Bytes that were given out are erased here, so that they exist nowhere else.
      used += length;
      return drawn;
    },
  };
}

const COUNTER_MAX = 0xfff;

/** UUIDv7 (RFC 9562). Ids of one process rise, also within a millisecond and when the wall clock goes back. */
export function uuidV7Ids(clock: Clock, random: Random = systemRandom): Ids {
  const tails = randomTails(random);
  let lastMs = -1;
  let counter = 0;
  let time = '';
  return {
    next: () => {
      const nowMs = clock.now().getTime();
      counter = nowMs > lastMs ? 0 : counter + 1;
      if (nowMs > lastMs || counter > COUNTER_MAX) {
        lastMs = Math.max(nowMs, lastMs + 1);
        counter = 0;
        time = timeOf(lastMs);
      }
      return `${time}-${(VERSION_7 + counter).toString(16)}-${tails()}`;
    },
  };
}

const VERSION_7 = 0x7000;
const TAIL_BYTES = 8;
const TAILS_AT_ONCE = 256;
const VARIANT_DIGITS = 4;

/** The random half of a UUID with its variant, printed. It is drawn for many ids at once. */
function randomTails(random: Random): () => string {
  let printed = '';
  let used = 0;
  return () => {
    if (used === printed.length) {
      const bytes = random.bytes(TAILS_AT_ONCE * TAIL_BYTES);
      for (let at = 0; at < bytes.length; at += TAIL_BYTES) {
        bytes[at] = ((bytes[at] as number) & 0x3f) | 0x80;
      }
      printed = bytes.toString('hex');
      used = 0;
    }
    const start = used;
    used += TAIL_BYTES * 2;
    const rest = start + VARIANT_DIGITS;
    return `${printed.slice(start, rest)}-${printed.slice(rest, used)}`;
  };
}

/** The 48 bits that all ids of a millisecond share. */
function timeOf(ms: number): string {
  const hex = ms.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}

/**
 * Equal parts give the same id (UUIDv8 of SHA-256 over length-prefixed parts), other parts another one: `('ab', 'c')`
 * differs from `('a', 'bc')`.
 */
export function uuidFrom(...parts: readonly string[]): string {
  let input = '';
  for (const part of parts) input += `${Buffer.byteLength(part)}:${part}`;
  return formatted(hash('sha256', input, 'buffer').subarray(0, 16), 8);
}

/** A name-based UUID of RFC 9562. The namespace is itself a UUID. */
export function uuidV5(namespace: string, name: string): string {
  const space = Buffer.from(namespace.replaceAll('-', ''), 'hex');
  if (space.length !== 16) throw new Error('The namespace of a UUIDv5 is a UUID.');
  return formatted(
    hash('sha1', Buffer.concat([space, Buffer.from(name)]), 'buffer').subarray(0, 16),
    5,
  );
}

const UUID_CHARACTERS = 36;
const STORED_UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const ANY_UUID = new RegExp(STORED_UUID, 'i');

/** Whether it is a UUID in the form in which Cardea creates and stores it: in lower case. */
export const isUuid = (text: string): boolean => STORED_UUID.test(text);

/** An id in its stored form. .NET and SQL Server print UUIDs in capitals. The case of any other text is significant. */
export const storedId = (text: string): string =>
  text.length === UUID_CHARACTERS && ANY_UUID.test(text) ? text.toLowerCase() : text;

/** Sets version and variant and prints the 16 bytes. */
function formatted(bytes: Buffer, version: number): string {
  bytes[6] = ((bytes[6] as number) & 0x0f) | (version << 4);
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
