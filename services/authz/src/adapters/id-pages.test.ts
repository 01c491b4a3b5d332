import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { writeInPieces } from './id-pages.ts';

const ids = Array.from({ length: 30_000 }, (_, at) => `id-${at}`);
const of = { name: 'object_ids', rest: { total: ids.length }, headers: {} };

/** A client that reads less at once than one piece. */
function slowResponse() {
  const stream = new PassThrough({ highWaterMark: 1024 });
  return Object.assign(stream, { writeHead: () => stream }) as unknown as ServerResponse &
    PassThrough;
}

it('writes a long list whole, and leaves no listener behind for each time that it waits', async () => {
  const response = slowResponse();
  const listeners: number[] = [];
  response.on('drain', () => {
    listeners.push(response.listenerCount('close') + response.listenerCount('error'));
  });
  const [body] = await Promise.all([text(response), writeInPieces(response, ids, of)]);
  expect(JSON.parse(body)).toEqual({ object_ids: ids, total: ids.length });
  expect(listeners.length).toBeGreaterThan(20);
  expect(new Set(listeners.slice(1)).size).toBe(1);
});

it('stops where the client has gone', async () => {
  const response = slowResponse();
  const writing = writeInPieces(response, ids, of);
  response.destroy();
  await writing;
  expect(response.writableEnded).toBe(false);
});
