import { endpoint } from '@cardea/http';
import Type from 'typebox';
import { idPageOf, idPageShape, isLong, writeInPieces } from '../../adapters/id-pages.ts';
import type { Engine } from '../../engine/engine.ts';
import { askingOf, consistent, READS, UNANSWERED } from '../endpoint-defaults.ts';
import { fieldsShape } from '../tuple-shape.ts';

const { user_id: _, ...askedShape } = fieldsShape;

export const listUsersRoute = ({ engine }: { readonly engine: Engine }) =>
  endpoint(
    {
      ...READS,
      name: 'fga_list_users',
      clientName: 'list_principals',
      summary: 'All principals of a type that have a relation to an object, by id',
      method: 'post',
      retry: 'safe',
      handlesConsistency: true,
      path: '/api/v1/fga/list-users',
      body: Type.Object({ ...askedShape, ...idPageShape }),
      ok: Type.Object({
        user_ids: Type.Array(Type.String()),
        total: Type.Integer({ minimum: 0 }),
        wildcard: Type.Boolean(),
      }),
      refusals: UNANSWERED,
    },
    async (request) => {
      const { body } = request;
      const answer = await engine.listUsers(askingOf(request), body);
      if ('unanswered' in answer) return { refused: answer.unanswered };
      const { ids, wildcard } = answer.value;
      const headers = consistent(answer.position);
      const rest = { total: ids.length, wildcard };
      const page = idPageOf(ids, body);
      if (!isLong(page)) return { ok: { user_ids: page, ...rest }, headers };
      const name = 'user_ids';
      return { raw: (response) => writeInPieces(response, page, { name, rest, headers }) };
    },
  );
