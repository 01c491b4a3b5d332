/** Extracts the rows from the messages of a server that answers a COPY. */
const HEADER_BYTES = 5;
const COPY_DATA = 'd'.charCodeAt(0);
/** Messages that may come between rows and are skipped: CopyOutResponse, parameters, notices, notifications. */
const SKIPPED = new Set([...'HSNA'].map((code) => code.charCodeAt(0)));

type CopiedRows = {
  /** A part of the chunk. */
  readonly text: Buffer;
  /** Everything from the first other message on: an error, or the end of the copy. */
  readonly rest?: Buffer;
};

/** Processes chunks in order, which may split a message anywhere, and moves the rows of each chunk to its start. */
export function copiedRows(): (chunk: Buffer) => CopiedRows {
  let cutHeader: Buffer | undefined;
  let bytesLeft = 0;
  let isRow = false;
  return (next) => {
    const chunk = cutHeader === undefined ? next : Buffer.concat([cutHeader, next]);
    cutHeader = undefined;
    let kept = 0;
    let at = 0;
    while (at < chunk.length) {
      if (bytesLeft === 0) {
        const code = chunk[at] as number;
        isRow = code === COPY_DATA;
        if (!(isRow || SKIPPED.has(code))) {
          return { text: chunk.subarray(0, kept), rest: chunk.subarray(at) };
        }
        if (at + HEADER_BYTES > chunk.length) {
          cutHeader = Buffer.from(chunk.subarray(at));
          break;
        }
        bytesLeft = chunk.readUInt32BE(at + 1) + 1 - HEADER_BYTES;
        at += HEADER_BYTES;
      }
      const end = Math.min(at + bytesLeft, chunk.length);
      if (isRow) {
        chunk.copyWithin(kept, at, end);
        kept += end - at;
      }
      bytesLeft -= end - at;
      at = end;
    }
    return { text: chunk.subarray(0, kept) };
  };
}
