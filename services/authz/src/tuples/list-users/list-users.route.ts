import { endpoint } from '@cardea/http';
import type { Clock } from '@cardea/runtime';
import Type from 'typebox';
import { idPageOf, idPageShape, isLong, writeInPieces } from '../../adapters/id-pages.ts';
import {
  askingAt,
  asOfShape,
  consistent,
  echoOf,
  LOOKING_BACK,
  READS,
  refusalOf,
} from '../../http/endpoint-defaults.ts';
import { fieldsShape } from '../../http/tuple-shape.ts';
import type { Engine } from '../../replicas/engine.ts';

const { user_id: _, ...askedShape } = fieldsShape;

export const listUsersRoute = ({
  engine,
  clock,
}: {
  readonly engine: Engine;
  readonly clock: Clock;
}) =>
  endpoint(
    {
      ...READS,
      name: 'fga_list_users',
      summary: 'All principals of a type that have a relation to an object, by id',
      description:
        'Lists the ids of all principals of a type that have a relation to an object, in ascending order. `wildcard` says that every principal of the type has it. `as_of` is for administrators and API keys.',
      method: 'post',
      repeat: 'safe',
      consistency: { byHandler: true },
      path: '/api/v1/fga/list-users',
      body: Type.Object({ ...askedShape, ...idPageShape, ...asOfShape }),
      ok: Type.Object({
        user_ids: Type.Array(Type.String()),
        total: Type.Integer({ minimum: 0 }),
        wildcard: Type.Boolean(),
        ...asOfShape,
      }),
      refusals: LOOKING_BACK,
    },
    async (request) => {
      const { body } = request;
      const of = askingAt(request, clock);
      if ('refused' in of) return of;
      const answer = await engine.listUsers(of, body);
      if ('unanswered' in answer) return refusalOf(answer.unanswered);
      const { ids, wildcard } = answer.value;
      const headers = consistent(answer.position);
      const rest = { total: ids.length, wildcard, ...echoOf(body) };
      const page = idPageOf(ids, body);
      if (!isLong(page)) return { ok: { user_ids: page, ...rest }, headers };
      const name = 'user_ids';
      return { raw: (response) => writeInPieces(response, page, { name, rest, headers }) };
    },
  );
