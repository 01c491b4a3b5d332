import { TOPIC_PARTITIONS } from '@cardea/contracts';

/**
 * Returns the partition of a record: murmur2 of its key, as Kafka's default partitioner computes it. So a key keeps its
 * partition when a deployment changes the adapter.
 */
export const partitionOf = (key: string, partitions: number = TOPIC_PARTITIONS): number =>
  (murmur2(Buffer.from(key)) & 0x7fffffff) % partitions;

/** Records with the same key keep their order. */
export const keyOf = (event: { readonly tenantId: string; readonly streamId: string }): string =>
  `${event.tenantId}:${event.streamId}`;

export const tenantOf = (key: string): string => key.slice(0, key.indexOf(':'));

const SEED = 0x9747b28c;
const MIX = 0x5bd1e995;

/** MurmurHash2, 32 bits, signed, with Kafka's seed. */
export const murmur2 = (bytes: Buffer): number => {
  let hash = SEED ^ bytes.length;
  let at = 0;
  for (; at + 4 <= bytes.length; at += 4) {
    const word = Math.imul(bytes.readInt32LE(at), MIX);
    hash = Math.imul(hash, MIX) ^ Math.imul(word ^ (word >>> 24), MIX);
  }
  const rest = bytes.length - at;
  if (rest > 0) {
    for (let index = rest - 1; index >= 0; index -= 1) {
      hash ^= bytes.readUInt8(at + index) << (8 * index);
    }
    hash = Math.imul(hash, MIX);
  }
  hash = Math.imul(hash ^ (hash >>> 13), MIX);
  return hash ^ (hash >>> 15);
};
