/**
 * The event ids of the streams that this process has lately written or read. The server looks at ids only
 * below the expected revision, and only within the stream; that the same command is not stored twice, and
 * that no id names two events, is found out here.
 */

/** Ids kept, all streams together; the streams used longest ago are forgotten first. */
const IDS_MAX = 100_000;

export type StreamIds = {
  /** The ids of the revisions from 1 up to here are known. */
  readonly through: number;
  readonly revisions: ReadonlyMap<string, number>;
};

type Kept = { through: number; readonly revisions: Map<string, number> };

export type KnownIds = {
  /** Grows with what is learned; it stays whole when the stream is forgotten. */
  of(stream: string): StreamIds;
  /** The ids of a stream from revision `from` on; ignored when they leave a gap. */
  learn(stream: string, from: number, ids: readonly string[]): void;
  /** Another stream that an id stands in, as far as is remembered. */
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
      streams.delete(stream); // to the end of the line
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
