/**
 * A cache of event ids, by stream, for the streams that this process has recently written or read. The
 * server compares ids only before the expected revision and only within the stream, so this package checks
 * itself that a command is not stored twice and that no id belongs to two events.
 */

/** Cached ids of all streams together. The least recently used streams are dropped first. */
const IDS_MAX = 100_000;

export type StreamIds = {
  /** The ids of all revisions from 1 to here are known. */
  readonly through: number;
  readonly revisions: ReadonlyMap<string, number>;
};

type Kept = { through: number; readonly revisions: Map<string, number> };

export type KnownIds = {
  /** The set grows as ids are learned. A caller's copy stays complete after the stream was dropped from the cache. */
  of(stream: string): StreamIds;
  /** Adds the ids of a stream from revision `from` on. Ignored when they would leave a gap. */
  learn(stream: string, from: number, ids: readonly string[]): void;
  /** Whether another stream has one of the ids, as far as the cache knows. */
  elsewhere(stream: string, ids: readonly string[]): boolean;
};

const NOTHING: StreamIds = { through: 0, revisions: new Map() };

export function knownIds(idsMax = IDS_MAX): KnownIds {
  const streams = new Map<string, Kept>();
  const streamOf = new Map<string, string>();

  const forgetOldest = (): void => {
    while (streamOf.size > idsMax && streams.size > 1) {
      const [oldest] = streams.keys();
      if (oldest === undefined) return;
      for (const id of streams.get(oldest)?.revisions.keys() ?? []) streamOf.delete(id);
      streams.delete(oldest);
    }
  };

  return {
    of: (stream) => streams.get(stream) ?? NOTHING,
    learn: (stream, from, ids) => {
      const kept = streams.get(stream) ?? { through: 0, revisions: new Map() };
      if (from > kept.through + 1 || ids.length === 0) return;
      streams.delete(stream); // Moves the stream to the end of the order of use.
      streams.set(stream, kept);
      for (const [index, id] of ids.entries()) {
        if (from + index <= kept.through) continue;
        kept.through = from + index;
        kept.revisions.set(id, kept.through);
        streamOf.set(id, stream);
      }
      forgetOldest();
    },
    elsewhere: (stream, ids) => ids.some((id) => (streamOf.get(id) ?? stream) !== stream),
  };
}
