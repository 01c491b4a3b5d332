/** Writes pages of long id lists in pieces, as fast as the client reads. */
import type { ServerResponse } from 'node:http';
import Type from 'typebox';

const PIECE_IDS = 1_000;
const WHOLE_IDS_MAX = 10_000;

const index = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** Without a limit the page contains the rest of the list. */
export const idPageShape = {
  limit: Type.Optional(index),
  offset: Type.Optional({ ...index, default: 0 }),
};

export function idPageOf(
  ids: readonly string[],
  { limit = Number.MAX_SAFE_INTEGER, offset = 0 }: { limit?: number; offset?: number },
): string[] {
  return ids.slice(offset, Math.min(ids.length, offset + limit));
}

/** Whether the page is too long to be kept in memory a second time as text. */
export const isLong = (page: readonly string[]): boolean => page.length > WHOLE_IDS_MAX;

/** Returns the body: the list under `name`, then the other fields. */
export async function writeInPieces(
  response: ServerResponse,
  ids: readonly string[],
  of: { readonly name: string; readonly rest: object; readonly headers: Record<string, string> },
): Promise<void> {
  response.writeHead(200, { ...of.headers, 'Content-Type': 'application/json; charset=utf-8' });
  response.write(`{"${of.name}":[`);
  for (let start = 0; start < ids.length; start += PIECE_IDS) {
    const piece = JSON.stringify(ids.slice(start, start + PIECE_IDS)).slice(1, -1);
    const isTaken = response.write(start === 0 ? piece : `,${piece}`);
    if (response.destroyed) return;
    if (!isTaken) await drainedOrClosed(response);
  }
  response.end(`],${JSON.stringify(of.rest).slice(1)}`);
}

/** Removes its listeners, because a long list waits hundreds of times. */
const drainedOrClosed = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
  });
