/**
 * Reads long bodies slowly enough for other requests (`docs/design/bounds.md`, C1). Unhindered, a turn of the event
 * loop reads up to 2 MiB of each connection, and all requests wait for it.
 */
import type { Readable } from 'node:stream';

/** The number of bytes of a body that are read without a pause. A connection delivers as many at once. */
const READ_BYTES = 64 * 1024;
/**
 * A body that nobody wants pauses for longer, and less often: its client gets the answer when all of it has been sent.
 */
const UNWANTED = { bytes: 256 * 1024, pauseMs: 1 } as const;

/**
 * Call the result with each part of a body. After enough bytes, the next part comes in a later turn of the event loop.
 */
export function unhurried(body: Readable): (part: Buffer) => void {
  return pausing(body, READ_BYTES, () => setImmediate(() => body.resume()));
}

/** Discards what is left of a body. `took` is called with the length of each part. */
export function discard(body: Readable, took: (bytes: number) => void): void {
  const resumeLater = () => setTimeout(() => body.resume(), UNWANTED.pauseMs);
  const pause = pausing(body, UNWANTED.bytes, resumeLater);
  body.on('data', (part: Buffer) => {
    took(part.length);
    pause(part);
  });
  body.resume();
}

function pausing(body: Readable, bytes: number, resumeLater: () => void): (part: Buffer) => void {
  let read = 0;
  return (part) => {
    read += part.length;
    if (read < bytes) return;
    read = 0;
    body.pause();
    resumeLater();
  };
}
