/**
 * Reads long bodies slowly enough for other requests (`docs/design/bounds.md`, C1). Unhindered, a turn of the event
 * loop reads up to 2 MiB of each connection, and all requests wait for it.
 */
import type { Readable } from 'node:stream';

/** What is read of a body without a pause. It is what a connection hands over at once. */
const READ_BYTES = 64 * 1024;
/** The pause in a body that nobody wants. */
const UNWANTED_PAUSE_MS = 1;

/** Call the result with each part of a body. Where enough came, the next part comes in a later turn of the event loop. */
export function unhurried(body: Readable): (part: Buffer) => void {
  return pausing(body, () => setImmediate(() => body.resume()));
}

/** Discards what is left of a body. `took` is called with the length of each part. */
export function discard(body: Readable, took: (bytes: number) => void): void {
  const pause = pausing(body, () => setTimeout(() => body.resume(), UNWANTED_PAUSE_MS));
  body.on('data', (part: Buffer) => {
    took(part.length);
    pause(part);
  });
  body.resume();
}

function pausing(body: Readable, resumeLater: () => void): (part: Buffer) => void {
  let read = 0;
  return (part) => {
    read += part.length;
    if (read < READ_BYTES) return;
    read = 0;
    body.pause();
    resumeLater();
  };
}
