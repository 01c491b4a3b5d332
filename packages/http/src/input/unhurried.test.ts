import { PassThrough, type Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { discard, unhurried } from './body.ts';

const PART_BYTES = 64 * 1024;
const UNWANTED_BYTES = 256 * 1024;
const PARTS = 20;

function bodyOf(parts: number, partBytes: number): Readable {
  const body = new PassThrough({ highWaterMark: parts * partBytes });
  for (let at = 0; at < parts; at++) body.write(Buffer.alloc(partBytes));
  return body;
}

/** The bytes that came in each turn of the event loop, until all have come. */
async function bytesPerTurn(all: number, read: (took: (bytes: number) => void) => void) {
  const turns: number[] = [];
  let total = 0;
  let ofTurn = 0;
  read((bytes) => {
    ofTurn += bytes;
  });
  while (total < all) {
    await nextTurn();
    turns.push(ofTurn);
    total += ofTurn;
    ofTurn = 0;
  }
  return turns;
}

describe('C1 long bodies', () => {
  it.each([
    ['parts as long as a read', PARTS, PART_BYTES],
    ['short parts', PARTS * 64, PART_BYTES / 64],
  ])('C1 are read in many turns of the event loop: %s', async (_what, parts, partBytes) => {
    const body = bodyOf(parts, partBytes);
    const turns = await bytesPerTurn(parts * partBytes, (took) => {
      const mayPause = unhurried(body);
      body.on('data', (part: Buffer) => {
        took(part.length);
        mayPause(part);
      });
    });
    expect(Math.max(...turns)).toBeLessThanOrEqual(PART_BYTES);
  });

  it('C1 that nobody wants are read with pauses', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    let read = 0;
    discard(bodyOf(PARTS, PART_BYTES), (bytes) => {
      read += bytes;
    });
    for (let allowed = UNWANTED_BYTES; allowed <= PARTS * PART_BYTES; allowed += UNWANTED_BYTES) {
      for (let turn = 0; turn < PARTS; turn += 1) await nextTurn();
      expect(read).toBe(allowed);
      vi.advanceTimersByTime(1);
    }
  });
});
