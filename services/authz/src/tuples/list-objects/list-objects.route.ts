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
import { onBehalfOf, questionShape } from '../../http/tuple-shape.ts';
import type { Engine } from '../../replicas/engine.ts';

export const listObjectsRoute = ({
  engine,
  clock,
}: {
  readonly engine: Engine;
  readonly clock: Clock;
}) =>
  endpoint(
    {
      ...READS,
      name: 'fga_list_objects',
      summary: 'All objects of a type to which a principal has a relation, by id',
      description:
        'Lists the ids of all objects of a type to which a principal has a relation, each once, in ascending order. Without `limit` the answer has all of them. It may read 10,000,000 tuple records. `as_of` is for administrators and API keys.',
      method: 'post',
      repeat: 'safe',
      consistency: { byHandler: true },
      path: '/api/v1/fga/list-objects',
      body: Type.Object({ ...questionShape, ...onBehalfOf, ...idPageShape, ...asOfShape }),
      ok: Type.Object({
        object_ids: Type.Array(Type.String()),
        total: Type.Integer({ minimum: 0 }),
        ...asOfShape,
      }),
      refusals: LOOKING_BACK,
    },
    async (request) => {
      const { body } = request;
      const of = askingAt(request, clock);
      if ('refused' in of) return of;
      const answer = await engine.listObjects(of, body);
      if ('unanswered' in answer) return refusalOf(answer.unanswered);
      const headers = consistent(answer.position);
      const rest = { total: answer.value.length, ...echoOf(body) };
      const page = idPageOf(answer.value, body);
      if (!isLong(page)) return { ok: { object_ids: page, ...rest }, headers };
      const name = 'object_ids';
      return { raw: (response) => writeInPieces(response, page, { name, rest, headers }) };
    },
  );
