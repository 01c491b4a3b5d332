import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { endpoint } from '@cardea/http';
import Type from 'typebox';
import type { Engine } from '../../engine/engine.ts';
import { consistent, READS, UNANSWERED } from '../endpoint-defaults.ts';
import { questionShape } from '../tuple-shape.ts';

/** Longer pages are written in pieces of this many ids, at the client's pace. */
const PIECE_IDS = 1_000;
const WHOLE_IDS_MAX = 10_000;

const index = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

export const listObjectsRoute = ({ engine }: { readonly engine: Engine }) =>
  endpoint(
    {
      ...READS,
      name: 'fga_list_objects',
      clientName: 'list_objects',
      summary: 'All objects of a type to which a principal has a relation, by id',
      method: 'post',
      retry: 'safe',
      handlesConsistency: true,
      path: '/api/v1/fga/list-objects',
      body: Type.Object({
        ...questionShape,
        limit: Type.Optional(index),
        offset: Type.Optional({ ...index, default: 0 }),
      }),
      ok: Type.Object({
        object_ids: Type.Array(Type.String()),
        total: Type.Integer({ minimum: 0 }),
      }),
      refusals: UNANSWERED,
    },
    async (request) => {
      const { body, tenantId } = request;
      const answer = await engine.listObjects(tenantId, body, request.positionSeen);
      if ('unanswered' in answer) return { refused: answer.unanswered };
      const { offset = 0, limit = Number.MAX_SAFE_INTEGER } = body;
      const total = answer.value.length;
      const headers = consistent(answer.position);
      const page = answer.value.slice(offset, Math.min(total, offset + limit));
      if (page.length <= WHOLE_IDS_MAX) return { ok: { object_ids: page, total }, headers };
      return { raw: (response) => writeInPieces(response, page, { total, headers }) };
    },
  );

async function writeInPieces(
  response: ServerResponse,
  ids: readonly string[],
  of: { readonly total: number; readonly headers: Record<string, string> },
): Promise<void> {
  response.writeHead(200, { ...of.headers, 'Content-Type': 'application/json; charset=utf-8' });
  response.write('{"object_ids":[');
  for (let start = 0; start < ids.length; start += PIECE_IDS) {
    const piece = JSON.stringify(ids.slice(start, start + PIECE_IDS)).slice(1, -1);
    const isTaken = response.write(start === 0 ? piece : `,${piece}`);
    if (response.destroyed) return;
    if (!isTaken) await Promise.race([once(response, 'drain'), once(response, 'close')]);
  }
  response.end(`],"total":${of.total}}`);
}
